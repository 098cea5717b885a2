"""The soak: laws of the library on hostile data, against independent truth, for as long as asked.

A law is a function of a random generator that draws one case, and raises `Violation` where the
library is wrong. The seed of a case is all that is needed to repeat it.
"""

"""Bugs that are planted on purpose, one at a time, to see whether the tests notice them.

``make mutants`` copies the package, plants a bug of `bugs.BUGS` in the copy and runs the tests that
concern it. A bug that passes them is missed: a test is missing.
"""

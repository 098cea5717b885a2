"""How much memory the library takes: all limits in one place.

They count float64 values, of which 2**27 are a gigabyte, unless their names say otherwise.
"""

# An array held as a whole: V where it is exact, a tall matrix made dense, V in single precision.
MAX_ARRAY = 2**28
# Beyond it V is made row by row, where the rows of X are fewer than the features.
MAX_VECTORS = 2**26
# Coordinates of features that BSS has on its list, or as many as V has itself.
MAX_LISTED = 2**27
# Rows, columns or directions up to which a matrix of inner products is decomposed as a whole; up to
# where that takes no longer than a fit.
MAX_GRAM = 4096
MAX_QUICK_GRAM = 512
# The same for a basis that nobody asked to be exact.
MAX_GRAM_UNASKED = 2000
# Sparse rows that are made dense together, and rows of V that are made together.
ROWS_AT_ONCE = 2**24
VECTORS_AT_ONCE = 2**21
# Values whose magnitudes are summed together.
SAFE_ROWS_AT_ONCE = 2**22
# Rows in memory that are handed on as one block.
BLOCK_BYTES = 2**26
# Text that is parsed together, of which lines and fields take many times the memory.
TEXT_BYTES_AT_ONCE = 2**20

"""The bindings of the kernels: the only code that calls the library.

Every array is checked before its address is taken, and every index that the kernels follow is in range. What the
library allocates is owned by a typed handle, which frees it when it is collected. A call releases the GIL.
"""

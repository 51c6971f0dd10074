"""Compiled kernels: counting, single tests, the search for separators and HITON's elimination."""

"""The kernels in C: counting, tests, scores, searches and log-determinants, and the bindings that call them."""

"""The kernels in C: counting, tests, scores, searches and log-determinants, and the border that calls them."""

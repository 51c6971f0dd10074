"""Counts from elsewhere: DuckDB, a Dask cluster, or any other ``CountSource``, and tests on them.

``tester`` carries out tests and searches on counts that come batch by batch, with the kernels of ``counts``;
``duck`` and ``cluster`` are the sources, ``opening`` chooses one by name.
"""

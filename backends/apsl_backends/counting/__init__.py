"""Sources of counts: tables in memory, DuckDB, a Dask cluster; and the choice between them."""

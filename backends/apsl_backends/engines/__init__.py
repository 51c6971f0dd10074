"""Where rows lie: tables in memory, DuckDB, databases through ibis, a Dask cluster; their counts and moments."""

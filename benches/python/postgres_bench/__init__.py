"""Benchmark of memory on a PostgreSQL server beside a bare COPY and two peers."""

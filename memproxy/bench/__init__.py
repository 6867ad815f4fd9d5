"""Benchmarks: what memory finds, and what it costs, measured through the real proxy."""

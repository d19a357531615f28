"""Benchmarks of a real Host: `python -m bench`. Knows the product by its command line, its HTTP API and its tables."""

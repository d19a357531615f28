"""Benchmarks of a real Host: `python -m bench`. Uses the product only through its command line, its HTTP API and its
tables."""

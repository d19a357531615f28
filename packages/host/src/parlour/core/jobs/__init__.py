"""Durable background work: a table of jobs, and the workers that run them."""

"""Runs a Host as one of several on a PostgreSQL database. A Host without `cluster.enabled` imports nothing of it."""

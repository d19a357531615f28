"""Executes runs: queue, start, context, results, completion and recovery."""

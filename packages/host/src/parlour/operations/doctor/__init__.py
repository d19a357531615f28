"""Checks everything that a Host depends on, and reports what is wrong and what to do. Changes nothing."""

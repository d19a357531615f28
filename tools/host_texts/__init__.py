"""Finds the sentences in the Host's source that people may read, and those without a translation."""

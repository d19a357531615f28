"""Finds the texts in the Host's source that users may read, and those without a translation."""

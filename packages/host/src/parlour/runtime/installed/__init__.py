"""Plugins below the data directory: which versions there are, what they were granted, how they change."""

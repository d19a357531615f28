"""Writes the documents of the settings that can be changed while the Host runs."""

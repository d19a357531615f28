"""Writes the files in `docs/protocol` from the entities themselves. Not part of the release."""

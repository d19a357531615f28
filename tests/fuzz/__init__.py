"""Bytes that nobody would send, on the connections of a real Host."""

"""Decides which handler receives an event."""

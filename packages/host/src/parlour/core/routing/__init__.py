"""Decides which handler takes an event."""

"""Explains what happened to an event, from stored facts."""

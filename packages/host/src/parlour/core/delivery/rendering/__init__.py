"""Renders a message for one platform. Pure functions without rows, bots or time."""

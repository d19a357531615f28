"""Agents, the runners that serve them, and the binding of one to an event."""

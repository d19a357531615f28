"""Runs a Plugin Runtime as a service of its own: plugins run as inside a Host, and one Host at a time uses them."""

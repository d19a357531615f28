"""Chat platforms as the core sees them: a port, what an adapter declares, and how its events come in."""

"""Keeps plugins running: handshake, health, limits, restarts, shutdown."""

"""Keeps plugins running: from the greeting over health, limits and restarts to the end."""

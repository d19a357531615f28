"""Builds the program: settings, the Host with all its parts, and the server."""

"""Serves the HTTP interface: routes, connection limits and the server process."""

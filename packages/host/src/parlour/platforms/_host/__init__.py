"""Connects configured bots to the core: lifecycle, incoming events, status."""

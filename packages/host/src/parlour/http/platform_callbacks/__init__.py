"""Endpoints that platforms call."""

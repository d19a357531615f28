"""KOOK, over its gateway and HTTP API."""

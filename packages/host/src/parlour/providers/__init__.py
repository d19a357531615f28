"""Implementations of the core's provider ports: models, tools and knowledge."""

"""Assigns pending work to parts, and decides which Host owns a part."""

"""Writes the pages about platforms from their manifests and from test evidence."""

"""Writes the pages about platforms from their manifests and from what tests have shown."""

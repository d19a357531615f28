"""Sandboxes of the service E2B, or of one that has its interface."""

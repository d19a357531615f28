"""Webhooks of other programs: each signed call becomes one event."""

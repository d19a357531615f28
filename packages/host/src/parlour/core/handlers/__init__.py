"""Hands a queued event to its handler: an agent, a webhook, plugin listeners, or none."""

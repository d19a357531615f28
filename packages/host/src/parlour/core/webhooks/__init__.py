"""Outbound webhooks: signed, durable, retried, and the actions that a response may request."""

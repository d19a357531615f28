"""Composes, renders, queues and sends outbox rows."""

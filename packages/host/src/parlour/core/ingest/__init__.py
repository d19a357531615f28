"""Accepts events: the gateway, chat commands, inbound webhooks and schedules."""

"""Shared parts of adapters: HTTP and WebSocket clients, webhooks, access tokens, ids and the queue of events."""

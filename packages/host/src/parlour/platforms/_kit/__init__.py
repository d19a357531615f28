"""Shared parts of adapters: back-off, JSON frames and the queue of incoming events."""

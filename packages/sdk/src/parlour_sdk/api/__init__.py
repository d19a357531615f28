"""Typed clients for what a run may ask of the Host, one module per namespace."""

from .run import AgentRunAPI

__all__ = ["AgentRunAPI"]

"""The classes a plugin implements."""

from .agent_runner import AgentRunner

__all__ = ["AgentRunner"]

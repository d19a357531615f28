"""A simulated Discord: gateway and REST API on one port, with its limits, errors and faults."""

from .simulator import DiscordSimulator
from .world import DiscordRefusal, DiscordWorld, SentDiscordMessage

__all__ = ["DiscordRefusal", "DiscordSimulator", "DiscordWorld", "SentDiscordMessage"]

"""A simulated LINE: the Messaging API, its rules for replies and pushes, and signed calls of the bot."""

from .simulator import LineSimulator
from .world import SentLineMessage

__all__ = ["LineSimulator", "SentLineMessage"]

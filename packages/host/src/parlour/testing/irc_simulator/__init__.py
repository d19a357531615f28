"""A simulated IRC server: registration with SASL, channels, the capabilities of IRCv3, and limits that it enforces."""

from .simulator import IrcSimulator
from .world import SentIrcMessage

__all__ = ["IrcSimulator", "SentIrcMessage"]

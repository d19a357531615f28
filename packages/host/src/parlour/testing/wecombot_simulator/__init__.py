"""A simulated WeCom for AI bots: the long connection, streamed answers, cards, ratings, uploads and encrypted files."""

from .checks import WecomBotRefusal
from .simulator import SentBotMessage, WecomBotSimulator

__all__ = ["SentBotMessage", "WecomBotRefusal", "WecomBotSimulator"]

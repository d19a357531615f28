"""A simulated WeCom application: encrypted calls, messages, cards and members, with its limits and errors."""

from .simulator import SentWecomMessage, WecomSimulator

__all__ = ["SentWecomMessage", "WecomSimulator"]

"""A simulated WeChat with an official account: calls in three modes, passive replies, and customer-service messages."""

from .simulator import OfficialAccountSimulator, SentOfficialMessage

__all__ = ["OfficialAccountSimulator", "SentOfficialMessage"]

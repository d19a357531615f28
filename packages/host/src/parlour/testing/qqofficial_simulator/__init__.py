"""A simulated QQ for official bots: gateway, signed calls, passive replies with windows and numbers, streams, files."""

from .rules import QQSimulatorRefusal
from .simulator import QQSimulator, SentQQMessage

__all__ = ["QQSimulator", "QQSimulatorRefusal", "SentQQMessage"]

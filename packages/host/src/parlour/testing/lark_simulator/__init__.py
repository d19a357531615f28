"""A simulated Feishu: open platform API, long connection, encrypted callbacks and streaming cards, with faults."""

from .simulator import LarkSimulator
from .world import LarkRefusal, LarkWorld, SentLarkMessage

__all__ = ["LarkRefusal", "LarkSimulator", "LarkWorld", "SentLarkMessage"]

"""A simulated KOOK: gateway and HTTP API on one port, with its limits, errors and faults."""

from .simulator import KookSimulator
from .world import KookRefusal, KookWorld, SentKookMessage

__all__ = ["KookRefusal", "KookSimulator", "KookWorld", "SentKookMessage"]

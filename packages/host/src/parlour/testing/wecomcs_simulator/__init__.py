"""A simulated WeCom customer service: calls that announce messages, a cursor, and the window for replies."""

from .simulator import SentCustomerMessage, WecomCsSimulator

__all__ = ["SentCustomerMessage", "WecomCsSimulator"]

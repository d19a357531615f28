"""A simulated WhatsApp: the Cloud API of one business number, its 24 hours for answers, and signed calls of the bot."""

from .simulator import WhatsAppSimulator
from .world import SentWhatsAppMessage

__all__ = ["SentWhatsAppMessage", "WhatsAppSimulator"]

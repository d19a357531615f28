"""A simulated mail account: an IMAP server with faults of its own, and aiosmtpd as its submission server."""

from .simulator import EmailSimulator
from .world import SentMail, StoredMail

__all__ = ["EmailSimulator", "SentMail", "StoredMail"]

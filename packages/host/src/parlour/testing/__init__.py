"""Fakes that behave like the real parts, for tests and simulations. They are public: plugin and platform authors use
them.

The contract suites are modules of their own (`parlour.testing.journal_contract`), because they need pytest.
"""

from .memory_journal import MemoryDatabase, MemoryJournal
from .memory_objects import MemoryObjects
from .memory_send_log import MemorySendLog

__all__ = ["MemoryDatabase", "MemoryJournal", "MemoryObjects", "MemorySendLog"]

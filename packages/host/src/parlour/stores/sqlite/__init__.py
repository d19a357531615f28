"""The journal on SQLite: one writer thread, two reader threads, and a thread for checkpoints."""

from .journal import SqliteJournal

__all__ = ["SqliteJournal"]

"""The journal on SQLite: one writer thread, two readers, checkpoints on the side."""

from .journal import SqliteJournal

__all__ = ["SqliteJournal"]

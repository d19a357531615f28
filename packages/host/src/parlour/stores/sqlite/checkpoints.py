"""Moves what was committed from the write-ahead log into the database, so that the log stays short.

A thread of its own does it while the writer goes on. Under load something is always added meanwhile, and a log can
only begin anew when nothing is left in it; so once the thread is done, the writer moves that little rest itself,
between two transactions.
"""

import logging
import os
import sqlite3
import threading
from queue import SimpleQueue
from typing import Literal

logger = logging.getLogger(__name__)

LONG = 4 * 1024 * 1024
"""A log of this many bytes is worth the work."""

# The file format of the log: https://sqlite.org/fileformat2.html#walformat
_HEADER = 32
_FRAME_HEADER = 24
_SALT = 8
_HEADER_SALT = 16
_FRAME_SALT = 8


class Log:
    """The log's file. It is written again from its start and not cut, since appending to a file costs far more than
    overwriting it; hence its size says nothing, and a look at a frame says how far the log has come."""

    def __init__(self, path: str, page_size: int) -> None:
        # SQLite keeps no locks on this file, so to close it takes none away.
        self._descriptor = os.open(path, os.O_RDONLY)
        frame = _FRAME_HEADER + page_size
        self._mark = _HEADER + LONG // frame * frame + _FRAME_SALT

    def is_long(self) -> bool:
        """True when the frame there is of the log as it is now, and not left over from before it began anew."""
        try:
            salt = os.pread(self._descriptor, _SALT, self._mark)
            return len(salt) == _SALT and salt == os.pread(self._descriptor, _SALT, _HEADER_SALT)
        except OSError:  # the next commit says what is wrong with the disk
            return False

    def close(self) -> None:
        os.close(self._descriptor)


class Checkpoints:
    def __init__(self, connection: sqlite3.Connection, log: Log) -> None:
        self._connection = connection
        self._log = log
        self._state: Literal["idle", "asked", "done"] = "idle"
        self._orders: SimpleQueue[bool] = SimpleQueue()
        """True asks for a checkpoint, False ends the thread."""
        self._thread = threading.Thread(target=self._run, name="journal-checkpoints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def after_transaction(self, writer: sqlite3.Connection) -> None:
        """To be called by the writer, on its thread."""
        is_long = self._log.is_long()
        if self._state == "done":
            self._state = "idle"
            if is_long:
                self._checkpoint(writer, "PASSIVE")
        elif is_long and self._state == "idle":
            self._state = "asked"
            self._orders.put(True)

    def finish(self) -> None:
        """To be called last, when writer and readers are gone."""
        self._orders.put(False)
        self._thread.join()
        self._checkpoint(self._connection, "TRUNCATE")
        self._connection.close()
        self._log.close()

    def _run(self) -> None:
        while self._orders.get():
            self._checkpoint(self._connection, "PASSIVE")
            self._state = "done"

    def _checkpoint(self, connection: sqlite3.Connection, mode: str) -> None:
        try:
            connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()
        except sqlite3.Error as error:  # nothing is lost by it; if something is wrong, the next commit says what
            logger.warning("a checkpoint of the journal failed: %s", error)

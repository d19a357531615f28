"""Moves committed pages from the write-ahead log into the database, so that the log stays short.

A thread does this while the writer continues. Under load, pages are always added in the meantime, and a log can restart
only when nothing is left in it. So after the thread has finished, the writer moves the small rest itself, between two
transactions.
"""

import logging
import os
import sqlite3
import threading
from queue import SimpleQueue
from typing import Literal

logger = logging.getLogger(__name__)

CHECKPOINT_LOG_BYTES = 4 * 1024 * 1024
"""Bytes of log from which a checkpoint is worth the work."""

# The file format of the log: https://sqlite.org/fileformat2.html#walformat
_HEADER = 32
_FRAME_HEADER = 24
_SALT = 8
_HEADER_SALT = 16
_FRAME_SALT = 8


class WriteAheadLog:
    """The file of the log.

    It is overwritten from its start and not truncated, since appending to a file costs far more than overwriting it. So
    its size says nothing, and a frame shows how far the log has come.
    """

    def __init__(self, path: str, page_size: int) -> None:
        # SQLite has no locks on this file, so closing it releases none.
        self._descriptor = os.open(path, os.O_RDONLY)
        frame = _FRAME_HEADER + page_size
        self._mark = _HEADER + CHECKPOINT_LOG_BYTES // frame * frame + _FRAME_SALT

    def is_long(self) -> bool:
        """Returns whether the frame there belongs to the current log and is not left from before its restart."""
        try:
            salt = os.pread(self._descriptor, _SALT, self._mark)
            return len(salt) == _SALT and salt == os.pread(self._descriptor, _SALT, _HEADER_SALT)
        except OSError:  # the next commit reports what is wrong with the disk
            return False

    def close(self) -> None:
        os.close(self._descriptor)


class Checkpointer:
    """Runs checkpoints when the log is long."""

    def __init__(self, connection: sqlite3.Connection, log: WriteAheadLog) -> None:
        self._connection = connection
        self._log = log
        self._state: Literal["idle", "asked", "done"] = "idle"
        self._orders: SimpleQueue[bool] = SimpleQueue()
        """Requests for the thread: True for a checkpoint, False to end."""
        self._thread = threading.Thread(target=self._run, name="journal-checkpoints", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def after_transaction(self, writer: sqlite3.Connection) -> None:
        """Starts or completes a checkpoint if the log is long. Called by the writer on its thread."""
        is_long = self._log.is_long()
        if self._state == "done":
            self._state = "idle"
            if is_long:
                self._checkpoint(writer, "PASSIVE")
        elif is_long and self._state == "idle":
            self._state = "asked"
            self._orders.put(True)

    def finish(self) -> None:
        """Ends the thread and empties the log. Called last, after writer and readers have finished."""
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
        except sqlite3.Error as error:  # nothing is lost; the next commit reports what is wrong
            logger.warning("a checkpoint of the journal failed: %s", error)

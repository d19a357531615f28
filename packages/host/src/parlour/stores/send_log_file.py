"""The send log as lines of a file: it survives any end of the process, but not of the machine.

Nothing waits for the disk here, so lines may be missing after a power failure. And only the last Host process that used
the database knows everything that was sent. So the file names the Host process that wrote it, which the database names
too, the boot of the machine, and its own inode, since a copy may lack lines. If one of them differs, the file is not
trusted.
"""

import logging
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Unit, Upsert, where
from parlour.core.model.ids import OutboxId
from parlour.core.model.ports import Ids
from parlour.core.store.tables import META

logger = logging.getLogger(__name__)

BOOT = Path("/proc/sys/kernel/random/boot_id")
HOST_PROCESS_KEY = "life"
COMPLETE_FROM_KEY = "complete_from"
MAX_FILE_BYTES = 1024 * 1024
"""Size beyond which the file is rewritten with only the unfinished sends."""

SendNotes = dict[str, str | None]
"""Message id that the platform acknowledged, by the id of the outbox row; None before the acknowledgement."""


class SendLogFile:
    def __init__(self, path: Path, journal: Journal, ids: Ids, boot: Path = BOOT) -> None:
        self._path = path
        self._journal = journal
        self._ids = ids
        self._boot = boot
        self._host_process = ""
        self._unfinished: SendNotes = {}
        self._file = -1
        self._size = 0

    async def load(self, sending: Collection[str]) -> None:
        if not self._host_process:
            rows = await self._journal.read(Select(META, where(name=HOST_PROCESS_KEY)))
            self._unfinished = self._load_unfinished(rows[0]["value"] if rows else "", sending) | self._unfinished
            self._host_process = self._ids.new()
            self._rewrite(complete_from="")
        # Written to the database last: after a kill in between, file and database name different processes.
        insert = Insert(
            META, {"name": HOST_PROCESS_KEY, "value": self._host_process}, conflict=Upsert(("name",), ("value",))
        )
        await self._journal.commit(Unit("handovers.life", (insert,)))

    def was_started(self, outbox_id: OutboxId) -> bool:
        return outbox_id in self._unfinished

    def message_id(self, outbox_id: OutboxId) -> str | None:
        return self._unfinished.get(outbox_id)

    def record_start(self, outbox_id: OutboxId) -> None:
        self._unfinished[outbox_id] = None
        self._append(outbox_id)

    def record_acknowledgement(self, outbox_id: OutboxId, message_id: str) -> None:
        self._unfinished[outbox_id] = message_id
        self._append(outbox_id, message_id)

    def clear(self, outbox_id: OutboxId) -> None:
        self._unfinished.pop(outbox_id, None)

    def close(self) -> None:
        file, self._file = self._file, -1  # even if closing fails: the number may be another file's by then
        _close(file)

    def _append(self, *line: str) -> None:
        if self._file < 0:
            return
        if self._size > MAX_FILE_BYTES:
            self._rewrite(complete_from=self._ids.new())
            return
        try:
            self._write(dumps(line).encode() + b"\n")
        except OSError as error:
            self._discard(error)

    def _write(self, content: bytes) -> None:
        if os.write(self._file, content) < len(content):
            raise OSError("there was no room for all of it")
        self._size += len(content)

    def _rewrite(self, complete_from: str) -> None:
        """Replaces the file in one step, so that a kill leaves the old or the new one.

        Completed sends are left out. A database that is restored to an earlier state does not know that they are
        completed. So for rows with ids below `complete_from` a missing line proves nothing.
        """
        try:
            file = os.open(self._new_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            previous, self._file, self._size = self._file, file, 0
            _close(previous)
            head = {**self._head(self._host_process, os.fstat(file)), COMPLETE_FROM_KEY: complete_from}
            lines = [(row,) if answer is None else (row, answer) for row, answer in self._unfinished.items()]
            self._write("".join(f"{dumps(line)}\n" for line in (head, *lines)).encode())
            self._new_path.replace(self._path)
        except OSError as error:
            self._discard(error)

    def _discard(self, error: OSError) -> None:
        """Removes the file: one that lacks a line would claim that a message was never sent."""
        logger.warning("%s: %s; sends that a crash interrupts will be repeated and marked", self._path.name, error)
        with suppress(OSError):  # emptied first, since the folder may not allow removal
            os.ftruncate(self._file, 0)
        with suppress(OSError):
            self.close()
        for path in (self._path, self._new_path):
            try:
                path.unlink(missing_ok=True)
            except OSError as delete_error:
                logger.error("%s is not complete and could not be removed; remove it: %s", path, delete_error)

    @property
    def _new_path(self) -> Path:
        return self._path.with_suffix(".new")

    def _load_unfinished(self, process_id: str, sending: Collection[str]) -> SendNotes:
        """Returns what the previous process noted of these rows, if its file is trusted.

        Otherwise every row counts as started.
        """
        try:
            head, *lines = [loads(line) for line in self._path.read_text("utf-8").rstrip("\n").split("\n")]
            notes: SendNotes = {fields[0]: fields[1] if len(fields) > 1 else None for fields in lines}
            complete_from = head.pop(COMPLETE_FROM_KEY)
            expected = self._head(process_id, self._path.stat())
            if head == expected and all(expected.values()):
                return {id: notes.get(id) for id in sending if id in notes or id < complete_from}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            pass
        return dict.fromkeys(sending)

    def _head(self, process_id: str, status: os.stat_result) -> dict[str, object]:
        return {"life": process_id, "boot": self._boot_id(), "file": status.st_ino}

    def _boot_id(self) -> str:
        """Returns the boot id; empty on a machine that has none, and then no file is trusted."""
        try:
            return self._boot.read_text().strip()
        except OSError:
            return ""


def _close(file: int) -> None:
    if file >= 0:
        os.close(file)

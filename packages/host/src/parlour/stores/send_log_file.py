"""Handovers as lines of a file: they outlive the process, however it ends, but not the machine.

Nothing waits for the disk here, so after a loss of power lines may be missing. And only the last Host that used the
database knows all that was handed over. So the file names the life of the Host that wrote it, which the database names
too, the machine's boot, and itself, since a copy may lack lines. Where one of them differs, nothing of it is believed.
"""

import logging
import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from parlour.core.encoding import dumps, loads
from parlour.core.journal import Insert, Journal, Select, Unit, Upsert, where
from parlour.core.model.ports import Ids
from parlour.core.store.tables import META

logger = logging.getLogger(__name__)

BOOT = Path("/proc/sys/kernel/random/boot_id")
LIFE = "life"
FROM = "complete_from"
LARGEST_BYTES = 1024 * 1024
"""Then it is written anew with what is still open."""

Notes = dict[str, str | None]
"""By a row's id, what the platform called it when it had answered."""


class HandoverFile:
    def __init__(self, path: Path, journal: Journal, ids: Ids, boot: Path = BOOT) -> None:
        self._path = path
        self._journal = journal
        self._ids = ids
        self._boot = boot
        self._life = ""
        self._open: Notes = {}
        self._file = -1
        self._size = 0

    async def take_up(self, sending: Collection[str]) -> None:
        if not self._life:
            rows = await self._journal.read(Select(META, where(name=LIFE)))
            self._open = self._left_open(rows[0]["value"] if rows else "", sending) | self._open
            self._life = self._ids.new()
            self._write_anew(complete_from="")
        # Named by the database last: a kill in between leaves two lives that differ.
        life = Insert(META, {"name": LIFE, "value": self._life}, conflict=Upsert(("name",), ("value",)))
        await self._journal.commit(Unit("handovers.life", (life,)))

    def begun(self, outbox_id: str) -> bool:
        return outbox_id in self._open

    def answer(self, outbox_id: str) -> str | None:
        return self._open.get(outbox_id)

    def begin(self, outbox_id: str) -> None:
        self._open[outbox_id] = None
        self._note(outbox_id)

    def answered(self, outbox_id: str, message_id: str) -> None:
        self._open[outbox_id] = message_id
        self._note(outbox_id, message_id)

    def settle(self, outbox_id: str) -> None:
        self._open.pop(outbox_id, None)

    def close(self) -> None:
        file, self._file = self._file, -1  # whatever comes of closing it, the number may be another file's from now on
        _close(file)

    def _note(self, *words: str) -> None:
        if self._file < 0:
            return
        if self._size > LARGEST_BYTES:
            self._write_anew(complete_from=self._ids.new())
            return
        try:
            self._write(dumps(words).encode() + b"\n")
        except OSError as error:
            self._do_without(error)

    def _write(self, content: bytes) -> None:
        if os.write(self._file, content) < len(content):
            raise OSError("there was no room for all of it")
        self._size += len(content)

    def _write_anew(self, complete_from: str) -> None:
        """In one step, so that a kill leaves the old file or the new one. What was settled is left out; a database that
        is taken back to before that does not know it. So of rows with smaller ids a missing line says nothing.
        """
        try:
            file = os.open(self._new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
            before, self._file, self._size = self._file, file, 0
            _close(before)
            head = {**self._head(self._life, os.fstat(file)), FROM: complete_from}
            lines = [(row,) if answer is None else (row, answer) for row, answer in self._open.items()]
            self._write("".join(f"{dumps(line)}\n" for line in (head, *lines)).encode())
            self._new.replace(self._path)
        except OSError as error:
            self._do_without(error)

    def _do_without(self, error: OSError) -> None:
        """A file that lacks a line would say that something never left: better none."""
        logger.warning("%s: %s; what a kill interrupts is sent again and marked", self._path.name, error)
        with suppress(OSError):  # a folder that lets nothing be removed
            os.ftruncate(self._file, 0)
        with suppress(OSError):
            self.close()
        for path in (self._path, self._new):
            try:
                path.unlink(missing_ok=True)
            except OSError as other:
                logger.error("%s is not complete and could not be removed; remove it: %s", path, other)

    @property
    def _new(self) -> Path:
        return self._path.with_suffix(".new")

    def _left_open(self, life: str, sending: Collection[str]) -> Notes:
        """What the life before has noted of these rows, if that is all there is to know; otherwise each was begun."""
        try:
            head, *lines = [loads(line) for line in self._path.read_text("utf-8").rstrip("\n").split("\n")]
            notes: Notes = {words[0]: words[1] if len(words) > 1 else None for words in lines}
            complete_from = head.pop(FROM)
            known = self._head(life, self._path.stat())
            if head == known and all(known.values()):
                return {id: notes.get(id) for id in sending if id in notes or id < complete_from}
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            pass
        return dict.fromkeys(sending)

    def _head(self, life: str, about: os.stat_result) -> dict[str, object]:
        return {"life": life, "boot": self._booted(), "file": about.st_ino}

    def _booted(self) -> str:
        """Empty on a machine that does not tell; then no file is believed."""
        try:
            return self._boot.read_text().strip()
        except OSError:
            return ""


def _close(file: int) -> None:
    if file >= 0:
        os.close(file)

"""Files of a message in `/workspace/inbox`, and files from `/workspace/outbox`, which go with the run's next message.

The inbox is filled when a run first uses the Box. The outbox is emptied after each command, so that its files belong to
the run that wrote them.
"""

import re
from typing import Any, Final
from weakref import WeakSet

from parlour.core.journal import Journal, Unit
from parlour.core.model.ids import ArtifactId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.runs.attachments import owned_scope, readable_scope
from parlour.core.runs.session import RunSession
from parlour.core.store import ledger
from parlour.core.store.artifact_service import ArtifactService
from parlour.core.store.artifacts import ArtifactInfo

from .callers import BoxCaller
from .files import BoxFiles

INBOX: Final = "/workspace/inbox"
OUTBOX: Final = "/workspace/outbox"
MAX_FILES: Final = 10
MAX_FILE_BYTES: Final = 20 * 1024 * 1024
MAX_NAME_CHARACTERS: Final = 100
_UNSAFE = re.compile(r"[^\w.() -]+")


class BoxAttachments:
    """Moves files between messages and sandboxes."""

    def __init__(self, files: BoxFiles, artifacts: ArtifactService, journal: Journal, clock: Clock) -> None:
        self._files = files
        self._artifacts = artifacts
        self._journal = journal
        self._clock = clock
        self._delivered: WeakSet[RunSession] = WeakSet()

    async def fill_inbox(self, caller: BoxCaller) -> None:
        """Copies the files of the run's message into the sandbox, once per run. A file that can't be had is left
        out.
        """
        run = caller.run
        if run is None or run in self._delivered or run.dry_run is not None or caller.session.read_only:
            return
        self._delivered.add(run)
        taken: set[str] = set()
        for ref in list(run.event.envelope.input.get("attachments") or ())[:MAX_FILES]:
            try:
                visible = await self._artifacts.get_visible(ArtifactId(ref["artifact_id"]), readable_scope(run))
                artifact = await self._artifacts.ensure_local(visible)
                if artifact.size_bytes > MAX_FILE_BYTES:
                    continue
                content = await self._artifacts.read(artifact, 0, artifact.size_bytes)
            except ProviderFailed:
                continue
            name = _unique(safe_name(artifact.info.name or artifact.artifact_id), taken)
            await self._files.write_whole(caller.session, f"{INBOX}/{name}", content)

    async def empty_outbox(self, caller: BoxCaller) -> str:
        """Stores the files of the outbox for the run's next message. Returns a note about them for the model."""
        run = caller.run
        if run is None:
            return ""
        try:
            listing = await self._files.request(caller.session, "list", path=OUTBOX)
        except ProviderFailed:
            return ""  # there is none
        notes: list[str] = []
        sent: list[str] = []
        for entry in listing["items"]:
            path = f"{OUTBOX}/{entry['name']}"
            if entry["kind"] != "file":
                continue
            if entry["size"] > MAX_FILE_BYTES or len(sent) == MAX_FILES:
                limit = f"{MAX_FILES} files of {MAX_FILE_BYTES // (1024 * 1024)} MiB"
                notes.append(f"{entry['name']} is not sent: at most {limit} are.")
            else:
                await self._send(caller, run, path, safe_name(entry["name"]))
                sent.append(entry["name"])
            await self._files.request(caller.session, "remove", path=path)
        if sent:
            notes.insert(0, f"Sent with your next message: {', '.join(sent)}.")
        return " ".join(notes)

    async def _send(self, caller: BoxCaller, run: RunSession, path: str, name: str) -> None:
        content = await self._files.read_whole(caller.session, path, MAX_FILE_BYTES)
        artifact = await self._artifacts.store(content, ArtifactInfo("file", name, source="tool"), owned_scope(run))
        now, ref = self._clock.now(), artifact.to_ref()
        event = ledger.append_event(
            run.run_id,
            run.next_sequence(),
            "artifact.created",
            artifact.to_metadata(),
            now,
            source="host",
            artifact_refs=[ref],
        )
        progress = ledger.update_progress(run.run_id, now, has_effects=True)
        await self._journal.commit(Unit("artifact.create", (progress, artifact.insert(), event)))
        run.created_files.append(ref)


def safe_name(name: str) -> str:
    """Returns a file name without folders and without characters that a shell or a platform could misread."""
    cleaned = _UNSAFE.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip(" .")
    stem, dot, extension = cleaned.rpartition(".")
    if len(cleaned) > MAX_NAME_CHARACTERS:
        kept = MAX_NAME_CHARACTERS - len(extension[:10]) - 1
        cleaned = f"{stem[:kept]}{dot}{extension[:10]}" if dot else cleaned[:MAX_NAME_CHARACTERS]
    return cleaned or "file"


def _unique(name: str, taken: set[str]) -> str:
    stem, dot, extension = name.rpartition(".")
    number, candidate = 1, name
    while candidate.casefold() in taken:
        number += 1
        candidate = f"{stem} ({number}){dot}{extension}" if dot else f"{name} ({number})"
    taken.add(candidate.casefold())
    return candidate


def concerns_outbox(tool: str, parameters: Any, result: Any) -> bool:
    """Returns whether a call may have left files in the outbox."""
    if tool == "exec":
        return bool(result.get("outbox"))
    return tool in ("write", "edit") and "outbox" in str(parameters.get("path", ""))

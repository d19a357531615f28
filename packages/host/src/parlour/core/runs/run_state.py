"""Loads the progress of a run from the ledger, to continue it after a restart of the Host."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.ids import RunId
from parlour.core.store.ledger import Ledger
from parlour.core.store.outbox_rows import OutboxStore
from parlour.core.store.tables import APPROVALS, CALLS
from parlour_sdk.values import dataclass

from .usage import OPEN_CALLS_KEY

PAGE_ROWS = 500
"""Ledger rows per read."""
MAX_TRACKED_GAPS = 1000
"""Maximum missing sequence numbers that are tracked."""


@dataclass(slots=True)
class RunProgress:
    """The applied results of a run, as the ledger knows them."""

    sequence: int = 0
    """Last sequence number of the ledger."""
    last: int = 0
    """Highest sequence number of the runner's own results."""
    messages: int = 0
    text: str = ""
    """Text of a message that is not completed."""
    pending_files: list[dict[str, Any]] = field(default_factory=list)
    """References to files that go with the next message."""
    applied_ranges: list[tuple[int, int, Mapping[str, str]]] = field(default_factory=list)
    """First and last result number of each row, with the digests of results from calls."""
    ends_with_message: bool = False
    """True if the last result is a complete message and no event was injected after it."""
    open_tools: set[str] = field(default_factory=set)
    """Ids of tool calls that have started and not ended."""

    @property
    def missing(self) -> set[int]:
        """The runner's sequence numbers that were skipped, up to a limit."""
        numbers: set[int] = set()
        expected = 1
        for first, last, _ in sorted(self.applied_ranges, key=lambda each: each[:2]):
            numbers.update(range(expected, min(first, expected + MAX_TRACKED_GAPS - len(numbers))))
            expected = max(expected, last + 1)
        return numbers

    def digest(self, sequence: int) -> str:
        containing = (digests for first, last, digests in self.applied_ranges if first <= sequence <= last)
        return next((digests.get(str(sequence), "") for digests in containing), "")

    def add(self, row: Row) -> None:
        self.sequence = row["sequence"]
        if row["type"] == "steering.injected":
            self.ends_with_message = False
        if row["type"] == "artifact.created":
            self.pending_files += loads(row["artifact_refs"])
        if row["source"] != "runner":
            return
        self.ends_with_message = row["type"] == "message.completed"
        if row["last_sequence"]:
            digests = loads(row["metadata"]).get("digests", {})
            self.applied_ranges.append((row["first_sequence"], row["last_sequence"], digests))
            self.last = max(self.last, row["last_sequence"])
        match row["type"]:
            case "message.delta":
                self.text += loads(row["data"])["chunk"]["content"]
            case "tool.call.started":
                self.open_tools.add(str(loads(row["data"]).get("tool_call_id")))
            case "tool.call.completed":
                self.open_tools.discard(str(loads(row["data"]).get("tool_call_id")))
            case "message.completed":
                self.messages += 1
                self.text, self.pending_files = "", []


async def load_progress(ledger: Ledger, run_id: RunId) -> RunProgress:
    progress = RunProgress()
    while rows := await ledger.events(run_id, progress.sequence, PAGE_ROWS):
        for row in rows:
            progress.add(row)
    return progress


async def load_shown_text(journal: Journal, run: Row) -> str:
    """Returns what users may have seen of the message that a run was writing when its Host crashed."""
    if not run["shown"] or not await OutboxStore(journal).streaming_rows(run["run_id"]):
        return ""
    return (await load_progress(Ledger(journal), run["run_id"])).text


async def is_answered(journal: Journal, run: Row) -> bool:
    """Returns whether an interrupted run had already given its complete answer.

    No result says that a message is the runner's last one. A run therefore counts as answered if its last result is a
    complete message and nothing that it started is open: no tool call, model call, approval, state write or partly
    shown message.
    """
    run_id = run["run_id"]
    if not run["shown"] or loads(run["usage"]).get(OPEN_CALLS_KEY):
        return False
    progress = await load_progress(Ledger(journal), run_id)
    if not progress.ends_with_message or progress.open_tools:
        return False
    open_calls = Select(CALLS, where(run_id=run_id, state="begun"), ("position",), limit=1)
    open_approvals = Select(APPROVALS, where(run_id=run_id, status="pending"), ("approval_id",), limit=1)
    if await journal.read(open_calls) or await journal.read(open_approvals):
        return False
    return not await OutboxStore(journal).streaming_rows(run_id)

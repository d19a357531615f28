"""Rebuilds a run as users saw it: the chat's frames, read from the ledger, each with its time. It writes nothing."""

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from parlour.core.delivery.feed import Frame
from parlour.core.encoding import loads
from parlour.core.journal import Journal, Row, Select, where
from parlour.core.model.ids import RunId
from parlour.core.store.ledger import ACTIVE_STATUSES, Ledger
from parlour.core.store.tables import TRANSCRIPT
from parlour_sdk.values import dataclass

PAGE_ROWS = 500
"""Ledger rows per read."""
MAX_ROWS = 20_000
"""Ledger rows after which the rest of a run is left out; the replay is then marked as incomplete."""


@dataclass(slots=True)
class RunReplay:
    """The frames of one run, in order."""

    frames: list[Frame]
    complete: bool = True

    @property
    def texts(self) -> list[str]:
        return [_text(frame["message"].get("content")) for frame in self.frames if frame["type"] == "message"]


class ReplayBuilder:
    """Builds replays from the ledger."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._ledger = Ledger(journal)

    async def build(self, run: Row) -> RunReplay:
        rows: list[Row] = []
        while page := await self._ledger.events(run["run_id"], rows[-1]["sequence"] if rows else 0, PAGE_ROWS):
            rows += page
            if len(rows) >= MAX_ROWS:
                break
        notices = await self._journal.read(Select(TRANSCRIPT, where(run_id=run["run_id"], item_type="notice")))
        return RunReplay(build_frames(run, rows, notices), complete=len(rows) < MAX_ROWS)


def build_frames(run: Row, rows: Iterable[Row], notices: Iterable[Row]) -> list[Frame]:
    """Builds the frames of a run. The joined text of its deltas equals the text of its messages."""
    collector = _FrameCollector(run["run_id"])
    collector.add({"type": "run", "status": "running"}, run["started_at"] or run["created_at"])
    for row in rows:
        if row["source"] == "runner":
            collector.add_row(row)
    if run["status"] in ACTIVE_STATUSES:
        return collector.frames
    if run["status"] == "completed":
        collector.add_unfinished_message(run["finished_at"])
    for notice in notices:
        code = loads(notice["metadata"]).get("notice", "")
        frame = {"type": "error", "code": code, "message": notice["content"], "in_history": True}
        collector.add(frame, notice["created_at"])
    collector.add({"type": "run", "status": run["status"]}, run["finished_at"])
    return collector.frames


@dataclass(slots=True)
class _FrameCollector:
    """Collects frames from ledger rows."""

    run_id: RunId
    frames: list[Frame] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """Deltas of a message that is not completed."""

    def add(self, frame: Frame, at: int) -> None:
        """Appends a frame whose time is never before that of the previous one. A notice and the end of its run may be
        stamped a millisecond in the wrong order.
        """
        latest = self.frames[-1]["at"] if self.frames else at
        self.frames.append({**frame, "run_id": self.run_id, "at": max(at, latest)})

    def add_row(self, row: Row) -> None:
        data, at = loads(row["data"]), row["created_at"]
        match row["type"]:
            case "message.delta":
                content = data["chunk"]["content"]
                self.text.append(content)
                self.add({"type": "delta", "content": content}, at)
            case "message.completed":
                self.text.clear()
                self.add({"type": "message", "message": data["message"]}, at)
            case "tool.call.started" | "tool.call.completed":
                status = row["type"].rpartition(".")[2]
                tool_fields = {name: data.get(name) for name in ("tool_call_id", "tool_name")}
                self.add({"type": "tool", **tool_fields, "status": status}, at)

    def add_unfinished_message(self, at: int) -> None:
        """Appends the deltas that no message completed as a message, as the run's end did."""
        text = "".join(self.text)
        if text.strip():
            self.add({"type": "message", "message": {"role": "assistant", "content": text}}, at)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(element.get("text", "") for element in content or ())

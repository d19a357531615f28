"""The frames that clients of web chat and API receive, live and again after a disconnect.

Messages and notices are outbox rows, ends of runs are ledger rows: committing the row publishes it, and a client reads
missed frames back by sequence number. Deltas and tool frames are held here only while their run is active. Sequence
numbers are strictly increasing microseconds, so they keep increasing after a restart.
"""

from bisect import bisect_right
from collections import deque
from typing import Any

from parlour.core.model.ids import ConversationId, RunId
from parlour.core.model.outbox_row import OutboxRow
from parlour.core.model.ports import Clock

Frame = dict[str, Any]

MAX_QUEUED_CHARACTERS = 1024 * 1024
"""Characters that may wait for a subscriber before it is cut off."""
MAX_QUEUED_FRAMES = 2000
"""Frames that may wait for a subscriber before it is cut off."""
MAX_DELTA_OFFSETS = 4096
"""Deltas of a message whose offsets are remembered, to resume a client in the middle of its text."""
MAX_TOOL_FRAMES = 200
"""Tool frames of the active run that are kept for clients that resume."""
MERGED_FRAME_TYPES = ("delta", "thinking")
"""Types of frames that are merged while they wait for a slow client."""


class ActiveRunFrames:
    """The frames of a conversation's active run, with the text that the run is writing."""

    def __init__(self, run_frame: Frame) -> None:
        self.run_frame = run_frame
        self.tools: deque[Frame] = deque(maxlen=MAX_TOOL_FRAMES)
        self.started = int(run_frame["seq"])
        self.begin_message(self.started)

    def begin_message(self, seq: int) -> None:
        self.text: list[str] = []
        self._length = 0
        self._first_seq = seq
        self._seqs: list[int] = []
        self._lengths: list[int] = []
        self._offsets_dropped = False

    def append_delta(self, seq: int, text: str) -> None:
        """Appends a delta; drops the older half of the offsets if there are too many."""
        self.text.append(text)
        self._length += len(text)
        self._seqs.append(seq)
        self._lengths.append(self._length)
        if len(self._seqs) > MAX_DELTA_OFFSETS:
            dropped_count = MAX_DELTA_OFFSETS // 2
            self._offsets_dropped = True
            del self._seqs[:dropped_count], self._lengths[:dropped_count]
            self.text = ["".join(self.text)]

    def frames_after(self, last_seq: int) -> list[Frame]:
        """Returns the frames that a client lacks which has seen everything up to `last_seq`."""
        frames = [self.run_frame] if last_seq < self.started else []
        frames += [tool for tool in self.tools if tool["seq"] > last_seq]
        if not self._seqs or self._seqs[-1] <= last_seq:
            return frames
        full_text = "".join(self.text)
        frame: Frame = {"type": "delta", "run_id": self.run_frame["run_id"], "seq": self._seqs[-1]}
        if self._offsets_dropped and self._first_seq < last_seq < self._seqs[0]:
            return [*frames, {**frame, "content": full_text, "replace": True}]
        position = bisect_right(self._seqs, last_seq)
        return [*frames, {**frame, "content": full_text[self._lengths[position - 1] if position else 0 :]}]


class FeedSubscription:
    """The frames of one connection. Deltas are merged while they wait; a reader that falls too far behind is cut."""

    def __init__(self) -> None:
        self._frames: deque[Frame] = deque()
        self._characters = 0
        self._wake: Any = None
        self.overrun = False

    def put(self, frame: Frame) -> None:
        if self.overrun:
            return
        size = len(frame.get("content") or (frame.get("message") and str(frame["message"])) or "")
        last = self._frames[-1] if self._frames else None
        if last and frame["type"] == last["type"] in MERGED_FRAME_TYPES and frame["run_id"] == last["run_id"]:
            self._frames[-1] = {**last, "content": last["content"] + frame["content"], "seq": frame["seq"]}
        else:
            self._frames.append(frame)
        self._characters += size
        if self._characters > MAX_QUEUED_CHARACTERS or len(self._frames) > MAX_QUEUED_FRAMES:
            self.overrun = True
            self._frames.clear()
        if self._wake is not None:
            self._wake()

    def on_frame(self, callback: Any) -> None:
        self._wake = callback

    def drain(self) -> list[Frame]:
        """Returns and removes the frames that wait."""
        frames = list(self._frames)
        self._frames.clear()
        self._characters = 0
        return frames


class Feed:
    """Publishes frames by conversation. A conversation without subscribers and active run takes no memory."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._subscriptions: dict[ConversationId, set[FeedSubscription]] = {}
        self._active_runs: dict[ConversationId, ActiveRunFrames] = {}

    def next_seq(self) -> int:
        """Takes the next number of the feed. Numbers grow with time, so they stay in order across restarts."""
        self._last = max(self._last + 1, self._clock.now() * 1000)
        return self._last

    def start_after(self, seq: int) -> None:
        """Sets the lower bound after a restart, so that no number is used twice even if the clock was set back."""
        self._last = max(self._last, seq)

    def subscribe(self, conversation_id: ConversationId) -> FeedSubscription:
        subscription = FeedSubscription()
        self._subscriptions.setdefault(conversation_id, set()).add(subscription)
        return subscription

    def unsubscribe(self, conversation_id: ConversationId, subscription: FeedSubscription) -> None:
        subscribers = self._subscriptions.get(conversation_id, set())
        subscribers.discard(subscription)
        if not subscribers:
            self._subscriptions.pop(conversation_id, None)

    def subscriber_counts(self) -> dict[str, int]:
        """Returns the number of subscribers per conversation."""
        return {conversation: len(subscribers) for conversation, subscribers in self._subscriptions.items()}

    def subscribed_conversations(self) -> list[ConversationId]:
        return list(self._subscriptions)

    def publish_remote(self, conversation_id: ConversationId, frame: Frame) -> None:
        """Publishes a frame that the Host that owns the conversation has committed."""
        self._publish(conversation_id, frame)

    def active_run(self, conversation_id: ConversationId) -> ActiveRunFrames | None:
        return self._active_runs.get(conversation_id)

    def run_started(self, conversation_id: ConversationId, run_id: RunId) -> None:
        frame = run_frame(run_id, "running", self.next_seq())
        self._active_runs[conversation_id] = ActiveRunFrames(frame)
        self._publish(conversation_id, frame)

    def run_ended(self, conversation_id: ConversationId, run_id: RunId, status: str, seq: int) -> None:
        active_run = self._active_runs.get(conversation_id)
        if active_run is not None and active_run.run_frame["run_id"] == run_id:
            del self._active_runs[conversation_id]
        self._publish(conversation_id, run_frame(run_id, status, seq))

    def publish_delta(self, conversation_id: ConversationId, run_id: RunId, text: str, seq: int) -> None:
        """Publishes a delta. `seq` was assigned when the delta arrived, so it is below the number of its message."""
        active_run = self._active_runs.get(conversation_id)
        if active_run is not None:
            active_run.append_delta(seq, text)
        self._publish(conversation_id, {"type": "delta", "run_id": run_id, "content": text, "seq": seq})

    def publish_reasoning(self, conversation_id: ConversationId, run_id: RunId, text: str, seq: int) -> None:
        """Publishes reasoning text to current subscribers; clients that connect later find it in the message."""
        self._publish(conversation_id, {"type": "thinking", "run_id": run_id, "content": text, "seq": seq})

    def publish_tool_call(
        self, conversation_id: ConversationId, run_id: RunId, data: dict[str, Any], status: str, seq: int
    ) -> None:
        frame = {
            "type": "tool",
            "run_id": run_id,
            "tool_call_id": data.get("tool_call_id"),
            "tool_name": data.get("tool_name"),
            "status": status,
            "seq": seq,
        }
        active_run = self._active_runs.get(conversation_id)
        if active_run is not None:
            active_run.tools.append(frame)
        self._publish(conversation_id, frame)

    def publish_row(self, row: OutboxRow) -> None:
        """Publishes an outbox row that has been committed."""
        active_run = self._active_runs.get(row.conversation_id)
        if active_run is not None and row.kind == "message":
            active_run.begin_message(row.feed_seq)
        self._publish(row.conversation_id, outgoing_frame(row))

    def publish_user_message(self, conversation_id: ConversationId, frame: Frame) -> None:
        """Publishes a user's message to the other clients. It is stored in the transcript, not here."""
        self._publish(conversation_id, {"type": "said", **frame, "seq": self.next_seq()})

    def publish_replacement(self, conversation_id: ConversationId, new_conversation_id: ConversationId) -> None:
        """Signals that the chat continues in another conversation, so that subscribers follow. Clients never see this
        frame.
        """
        self._publish(
            conversation_id, {"type": "moved", "conversation_id": new_conversation_id, "seq": self.next_seq()}
        )

    def publish_departure(self, conversation_id: ConversationId) -> None:
        """Signals that another Host owns the conversation by now, so that clients connect to it. Clients never see this
        frame.
        """
        self._publish(conversation_id, {"type": "departed", "seq": self.next_seq()})

    def _publish(self, conversation_id: ConversationId, frame: Frame) -> None:
        for subscription in self._subscriptions.get(conversation_id, ()):
            subscription.put(frame)


def run_frame(run_id: RunId, status: str, seq: int) -> Frame:
    return {"type": "run", "run_id": run_id, "status": status, "seq": seq}


def outgoing_frame(row: OutboxRow) -> Frame:
    if row.kind == "notice":
        content = row.message["content"]
        frame: Frame = {"type": "error", "code": row.code, "message": content, "in_history": True}
        return {**frame, "run_id": row.run_id, "seq": row.feed_seq} if row.run_id else {**frame, "seq": row.feed_seq}
    if row.kind == "approval":
        return {"type": "approval", **row.message["approval"], "seq": row.feed_seq}
    return {"type": "message", "run_id": row.run_id, "message": row.message, "seq": row.feed_seq}

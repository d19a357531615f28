"""Composes outbox rows from the output of runs, and publishes or enqueues them after the commit.

The target comes from the event, never from the runner: a reply goes where its event came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from parlour.core.journal import GuardFailed, Journal, Statement, StorageFailed, Unit, UnitBuilder
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY, DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import OutboxKind, OutboxRow, OutboxState
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store import outbox_rows
from parlour_sdk.values import dataclass

from . import targets
from .feed import Feed
from .notice_policy import NoticePolicy
from .outbox import Outbox
from .rate_limits import PlatformRateLimiter
from .rendering import buttons
from .rendering.parts import is_text, render
from .row_states import SentMessageHook
from .streaming.streamed_message import STREAMED
from .streaming.streams import Streams, can_stream
from .targets import PLATFORM, ReplyTarget, rate_scope
from .typing_indicator import TypingIndicator

EXPIRY_MILLISECONDS = 3600 * 1000
"""Milliseconds after which a row that could not be sent expires."""
NO_CHAT = "the event happened in no chat; the agent's delivery_policy.fallback_target can name one for its answers"
UNUSED_PART = "the whole message needs fewer parts than were begun"
"""The reason recorded for a row that was streamed but that the final message does not need."""
MessageBody = dict[str, Any]
SHARED_FIELDS = ("role", "metadata", "approval", "edits")
"""The fields of a message that are copied to each of its parts."""


@dataclass(frozen=True, slots=True)
class ComposedRows:
    """Composed rows and the statements that store them."""

    rows: list[OutboxRow]
    statements: list[Statement]


@dataclass(frozen=True, slots=True)
class StreamDelta:
    """The next delta of a streamed message."""

    text: str
    seq: int
    """Feed sequence number assigned when the delta arrived, so that it is below the number of its message."""
    first_message: bool
    """True if the message is the first of its run."""


class DeliveryService:
    """Composes rows, forwards streamed output, and hands committed rows to the feed or the outbox."""

    def __init__(
        self,
        feed: Feed,
        outbox: Outbox,
        bots: PlatformBots,
        streams: Streams,
        typing: TypingIndicator,
        pace: PlatformRateLimiter,
        tact: NoticePolicy,
        responses: SentMessageHook,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self.feed = feed
        self._outbox = outbox
        self._bots = bots
        self._streams = streams
        self._typing = typing
        self._pace = pace
        self._tact = tact
        self._responses = responses
        self._ids = ids
        self._clock = clock

    def run_started(self, event: RecordedEvent, run_id: str) -> None:
        self.feed.run_started(event.conversation_id, run_id)
        self._typing.start(event, run_id)

    def run_ended(self, conversation_id: str, run_id: str, status: str, feed_seq: int) -> None:
        self._typing.stop(run_id)
        self.feed.run_ended(conversation_id, run_id, status, feed_seq)

    def capabilities_for_runner(self, event: RecordedEvent, policy: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the description of the reply target and its capabilities that is sent to the runner."""
        decoded = DeliveryPolicy.decode(policy)
        place = targets.reply_target(event, decoded)
        manifest = self._manifest(place)
        told: dict[str, Any] = {
            "surface": place.surface,
            "supports_streaming": self._supports_streaming(place, manifest, decoded),
        }
        if manifest is None:
            return told
        apis, limit = manifest.supported_apis, manifest.limits.text
        return {
            **told,
            "reply_target": {name: value for name, value in place.address.items() if value and name != "chat"},
            "supports_edit": "edit_message" in apis,
            "supports_reaction": "react" in apis,
            "max_message_size": min(limit, decoded.max_message_size or limit),
            "platform_capabilities": list(apis),
        }

    def supports_streaming(self, event: RecordedEvent, policy: DeliveryPolicy = DEFAULT_DELIVERY_POLICY) -> bool:
        """Returns whether the users of this conversation see a message while it is being written."""
        place = targets.reply_target(event, policy)
        return self._supports_streaming(place, self._manifest(place), policy)

    def open_stream(self, event: RecordedEvent, run_id: str, policy: DeliveryPolicy) -> OutboxRow:
        """Returns the row for a message that is about to be streamed, in state `streaming`."""
        place = targets.reply_target(event, policy)
        return self._row(event, place, run_id, "message", {"role": "assistant", "content": ""}, "streaming")

    def publish_delta(
        self, event: RecordedEvent, run_id: str, row: OutboxRow | None, fragment: StreamDelta, policy: DeliveryPolicy
    ) -> None:
        """Publishes a delta. The row is already stored; it is None if the delta arrives together with its complete
        message.
        """
        if event.envelope.surface == "webui":
            self.feed.publish_delta(event.conversation_id, run_id, fragment.text, fragment.seq)
        elif row is not None:
            self._stream_to_platform(row, fragment, policy)

    def publish_reasoning(self, event: RecordedEvent, run_id: str, thoughts: str, seq: int) -> None:
        """Publishes reasoning text as it arrives. Only web chat shows it live, because it can collapse the text."""
        if event.envelope.surface == "webui":
            self.feed.publish_reasoning(event.conversation_id, run_id, thoughts, seq)

    def _stream_to_platform(self, row: OutboxRow, fragment: StreamDelta, policy: DeliveryPolicy) -> None:
        grown = self._streams.get(row.outbox_id)
        if grown is None:
            manifest = self._bots.manifest(row.bot_id)
            if manifest is None:
                return
            quote = _quoted(row.address, policy, fragment.first_message)
            grown = self._streams.start(row, manifest, policy, quote, partial(self._outbox.wait_idle, row.target))
        self._typing.stop(row.run_id)
        grown.append_delta(fragment.text)

    async def stop_stream(self, row: OutboxRow | None) -> list[OutboxRow]:
        """Stops a stream and returns its rows, before the final message is composed. Shows nothing more until then."""
        if row is None:
            return []
        return await self._streams.stop_adding_rows(row.outbox_id) or [row]

    async def resumable_rows(self, event: RecordedEvent, run_id: str) -> list[OutboxRow]:
        """Returns the rows of a message that was streamed before a restart of the Host and can still be completed."""
        shown = event.envelope.surface in (PLATFORM, *targets.SURFACES_WITHOUT_READER)
        return await self._streams.unfinished_rows(run_id) if shown else []

    def abort_stream(self, row: OutboxRow | None) -> None:
        """Stops a stream whose run has ended. The message stays incomplete."""
        if row is not None:
            self._streams.abort(row.outbox_id)

    def compose_reply(
        self,
        event: RecordedEvent,
        run_id: str,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        grown: Sequence[OutboxRow] = (),
    ) -> ComposedRows:
        """Composes the final message. `grown` are the rows under which it was streamed so far."""
        place, now = targets.reply_target(event, policy), self._clock.now()
        manifest = self._manifest(place)
        bodies = self._render(place, manifest, message, policy, first, apart=bool(grown))
        if place.surface != PLATFORM:
            rows = [replace(row, state="sent", message=message, feed_seq=self.feed.next_seq()) for row in grown]
            rows = rows or [self._row(event, place, run_id, "message", message, self._state(place, manifest))]
            return ComposedRows(
                rows, [outbox_rows.complete_stream(row, now) if grown else outbox_rows.insert(row) for row in rows]
            )
        finished = [
            self._completed_row(row, body, self._state(place, manifest), now)
            for row, body in zip(grown, _editable(bodies), strict=False)
        ]
        further = [
            self._row(event, place, run_id, "message", body, self._state(place, manifest))
            for body in bodies[len(finished) :]
        ]
        spare = [replace(row, state="failed", reason=UNUSED_PART) for row in grown[len(finished) :]]
        ends = [outbox_rows.complete_stream(row, now) for row in [*finished, *spare]]
        return ComposedRows([*finished, *further, *spare], [*ends, *(outbox_rows.insert(row) for row in further)])

    def add_response_events(self, draft: UnitBuilder, rows: Sequence[OutboxRow]) -> None:
        """Adds the response events for rows that count as sent as soon as their unit is committed."""
        for row in rows:
            if row.state == "sent":
                self._responses.add_events(draft, row)

    def compose_message(
        self,
        event: RecordedEvent,
        run_id: str,
        kind: OutboxKind,
        message: MessageBody,
        code: str = "",
        place: ReplyTarget | None = None,
    ) -> OutboxRow:
        """Composes one short row for this conversation, or for a target that the operator configured, in its initial
        state.
        """
        place = place or targets.reply_target(event, DEFAULT_DELIVERY_POLICY)
        manifest = self._manifest(place)
        body = next(iter(self._render(place, manifest, message, DEFAULT_DELIVERY_POLICY, first=False)), message)
        return self._row(event, place, run_id, kind, body, self._state(place, manifest), code)

    def can_edit_prompts(self, bot_id: str) -> bool:
        """Returns whether an approval prompt of this bot is edited into its outcome: its platform has buttons and
        edits.
        """
        manifest = self._bots.manifest(bot_id)
        return manifest is not None and manifest.buttons and "edit_message" in manifest.supported_apis

    def compose_notice(self, event: RecordedEvent, run_id: str, code: str, sentence: str) -> OutboxRow:
        """Composes a notice with this code and text."""
        message = {"role": "assistant", "content": sentence, "metadata": {"notice": code}}
        return self.compose_message(event, run_id, "notice", message, code)

    def after_commit(self, rows: list[OutboxRow]) -> None:
        """Publishes or enqueues rows whose unit is committed."""
        for row in rows:
            if row.kind == "notice":
                self._tact.record_sent(row.conversation_id)
            match row.state:
                case "sent":
                    self.feed.publish_row(row)
                    self._responses.after_commit(row)
                case "failed":
                    self._streams.retract(row)
                case _:
                    self._outbox.enqueue(row)

    def after_rollback(self, rows: list[OutboxRow], failure: GuardFailed | StorageFailed) -> None:
        """Releases rows whose commit failed. If the result of the commit is unknown, the outbox checks for them."""
        for row in rows:
            self._streams.drop(row.outbox_id)
            if row.state == "sending":
                self._outbox.release(row.target)
            if isinstance(failure, StorageFailed) and failure.uncertain and row.state in ("pending", "sending"):
                # if it is not stored in this state, the guard of its first state change fails and the row is reloaded
                self._outbox.enqueue(row.with_state("pending"))

    async def deliver(self, journal: Journal, unit: Unit, rows: list[OutboxRow]) -> None:
        """Commits a unit that stores these rows, then publishes or enqueues them."""
        try:
            await journal.commit(unit)
        except (GuardFailed, StorageFailed) as failure:
            self.after_rollback(rows, failure)
            raise
        self.after_commit(rows)

    def _manifest(self, place: ReplyTarget) -> AdapterManifest | None:
        """Returns the manifest of the target's adapter; None if the target is no platform or the bot does not exist."""
        return self._bots.manifest(place.bot_id) if place.surface == PLATFORM else None

    def _supports_streaming(self, place: ReplyTarget, manifest: AdapterManifest | None, policy: DeliveryPolicy) -> bool:
        if place.surface != PLATFORM:
            return place.surface == "webui"
        able = manifest is not None and can_stream(manifest) and not place.has_no_chat
        return able and policy.streaming and self._bots.is_connected(place.bot_id)

    def _render(
        self,
        place: ReplyTarget,
        manifest: AdapterManifest | None,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        apart: bool = False,
    ) -> list[MessageBody]:
        """Renders the message into the bodies of its rows, one per part."""
        if manifest is None or place.has_no_chat:
            return [message]
        kept: MessageBody = {name: message[name] for name in SHARED_FIELDS if name in message}
        if "chain" in message:  # a chain that was written for this platform
            return [{**kept, "content": message["content"], "chain": message["chain"]}]
        parts = render(message, manifest, policy, _quoted(place.address, policy, first), apart)
        bodies: list[MessageBody] = [{**kept, "content": part.text, "chain": part.chain} for part in parts]
        if bodies and "approval" in kept:
            bodies[0]["chain"] = [*bodies[0]["chain"], *buttons.approval_buttons(message, manifest)]
        return bodies

    def _completed_row(self, row: OutboxRow, body: MessageBody, state: OutboxState, now: int) -> OutboxRow:
        whole = {**body, STREAMED: True}
        return replace(row, state=state, message=whole, expires_at=now + EXPIRY_MILLISECONDS)

    def _state(self, place: ReplyTarget, manifest: AdapterManifest | None) -> OutboxState:
        if not self._outbox.handles(place.surface):
            return "sent"
        if place.has_no_chat and manifest is not None:
            return "failed"
        waits = manifest is not None and self._must_wait(place, manifest)
        return "pending" if waits else self._outbox.try_reserve(place.target)

    def _must_wait(self, place: ReplyTarget, manifest: AdapterManifest) -> bool:
        away = not self._bots.is_connected(place.bot_id)
        return away or self._pace.delay(rate_scope(place.bot_id, place.address), manifest.limits) > 0

    def _row(
        self,
        event: RecordedEvent,
        place: ReplyTarget,
        run_id: str,
        kind: OutboxKind,
        message: MessageBody,
        state: OutboxState,
        code: str = "",
    ) -> OutboxRow:
        now = self._clock.now()
        return OutboxRow(
            outbox_id=self._ids.new(),
            surface=place.surface,
            target=place.target,
            conversation_id=event.conversation_id,
            bot_id=place.bot_id,
            run_id=run_id,
            kind=kind,
            state=state,
            message=message,
            address=place.address,
            feed_seq=self.feed.next_seq(),
            created_at=now,
            expires_at=now + EXPIRY_MILLISECONDS,
            code=code,
            locale=event.envelope.locale,
            reason=NO_CHAT if state == "failed" else "",
        )


def _editable(bodies: list[MessageBody]) -> list[MessageBody]:
    """Returns the leading bodies that a streamed text message can be edited into.

    The list ends before the first file: a file is a message of its own, and everything after it must follow it.
    """
    texts = list(takewhile(lambda body: is_text(body.get("chain", ())), bodies))
    return texts or bodies[:1]


def _quoted(address: dict[str, str], policy: DeliveryPolicy, first: bool) -> str:
    return address.get("message_id", "") if first and policy.reply == "quote" else ""

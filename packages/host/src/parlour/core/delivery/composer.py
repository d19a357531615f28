"""Composes outbox rows from the output of runs, and publishes or enqueues them after the commit.

The target comes from the event, never from the runner: a reply goes where its event came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from parlour.core.journal import Draft, GuardFailed, Journal, Statement, StorageFailed, Unit
from parlour.core.model.delivery_policy import DEFAULT, DeliveryPolicy
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import Kind, Outgoing, State
from parlour.core.model.ports import Clock, Ids
from parlour.core.platforms.connections import RunningBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store import outbox_rows
from parlour_sdk.values import dataclass

from . import targets
from .feed import Feed
from .notice_policy import Tact
from .outbox import Outbox, Responses
from .rate_limits import Pace
from .rendering import buttons
from .rendering.parts import is_text, render
from .streaming.streamed_message import GREW
from .streaming.streams import Streams, grows
from .targets import PLATFORM, Place, room
from .typing_indicator import TypingSigns

EXPIRY_MILLISECONDS = 3600 * 1000
"""Milliseconds after which a row that could not be sent expires."""
NO_CHAT = "the event happened in no chat; the agent's delivery_policy.fallback_target can name one for its answers"
FEWER = "the whole message needs fewer parts than were begun"
"""The reason recorded for a row that was streamed but that the final message does not need."""
MessageBody = dict[str, Any]
KEPT = ("role", "metadata", "approval", "edits")
"""The fields of a message that are copied to each of its parts."""


@dataclass(frozen=True, slots=True)
class Composed:
    """Composed rows and the statements that store them."""

    rows: list[Outgoing]
    statements: list[Statement]


@dataclass(frozen=True, slots=True)
class Fragment:
    """The next delta of a streamed message."""

    text: str
    seq: int
    """Feed sequence number assigned when the delta arrived, so that it is below the number of its message."""
    first_message: bool
    """True if the message is the first of its run."""


class Delivery:
    """Composes rows, forwards streamed output, and hands committed rows to the feed or the outbox."""

    def __init__(
        self,
        feed: Feed,
        outbox: Outbox,
        bots: RunningBots,
        streams: Streams,
        typing: TypingSigns,
        pace: Pace,
        tact: Tact,
        responses: Responses,
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
        self._typing.begin(event, run_id)

    def run_ended(self, conversation_id: str, run_id: str, status: str, feed_seq: int) -> None:
        self._typing.end(run_id)
        self.feed.run_ended(conversation_id, run_id, status, feed_seq)

    def described(self, event: RecordedEvent, policy: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the description of the reply target and its capabilities that is sent to the runner."""
        decoded = DeliveryPolicy.decode(policy)
        place = targets.of(event, decoded)
        manifest = self._manifest(place)
        told: dict[str, Any] = {"surface": place.surface, "supports_streaming": self._grows(place, manifest, decoded)}
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

    def streams(self, event: RecordedEvent, policy: DeliveryPolicy = DEFAULT) -> bool:
        """Returns whether the users of this conversation see a message while it is being written."""
        place = targets.of(event, policy)
        return self._grows(place, self._manifest(place), policy)

    def open_stream(self, event: RecordedEvent, run_id: str, policy: DeliveryPolicy) -> Outgoing:
        """Returns the row for a message that is about to be streamed, in state `streaming`."""
        place = targets.of(event, policy)
        return self._row(event, place, run_id, "message", {"role": "assistant", "content": ""}, "streaming")

    def grow(
        self, event: RecordedEvent, run_id: str, row: Outgoing | None, fragment: Fragment, policy: DeliveryPolicy
    ) -> None:
        """Publishes a delta. The row is already stored; it is None if the delta arrives together with its complete
        message.
        """
        if event.envelope.surface == "webui":
            self.feed.delta(event.conversation_id, run_id, fragment.text, fragment.seq)
        elif row is not None:
            self._grow_on_platform(row, fragment, policy)

    def think(self, event: RecordedEvent, run_id: str, thoughts: str, seq: int) -> None:
        """Publishes reasoning text as it arrives. Only web chat shows it live, because it can collapse the text."""
        if event.envelope.surface == "webui":
            self.feed.thinking(event.conversation_id, run_id, thoughts, seq)

    def _grow_on_platform(self, row: Outgoing, fragment: Fragment, policy: DeliveryPolicy) -> None:
        grown = self._streams.of(row.outbox_id)
        if grown is None:
            manifest = self._bots.manifest(row.bot_id)
            if manifest is None:
                return
            quote = _quoted(row.address, policy, fragment.first_message)
            grown = self._streams.begin(row, manifest, policy, quote, partial(self._outbox.idle, row.target))
        self._typing.end(row.run_id)
        grown.grow(fragment.text)

    async def settle(self, row: Outgoing | None) -> list[Outgoing]:
        """Stops a stream and returns its rows, before the final message is composed. Shows nothing more until then."""
        if row is None:
            return []
        return await self._streams.settle(row.outbox_id) or [row]

    async def grown_before(self, event: RecordedEvent, run_id: str) -> list[Outgoing]:
        """Returns the rows of a message that was streamed before a restart of the Host and can still be completed."""
        shown = event.envelope.surface in (PLATFORM, *targets.UNREAD)
        return await self._streams.left(run_id) if shown else []

    def broken(self, row: Outgoing | None) -> None:
        """Stops a stream whose run has ended. The message stays incomplete."""
        if row is not None:
            self._streams.stop(row.outbox_id)

    def complete(
        self,
        event: RecordedEvent,
        run_id: str,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        grown: Sequence[Outgoing] = (),
    ) -> Composed:
        """Composes the final message. `grown` are the rows under which it was streamed so far."""
        place, now = targets.of(event, policy), self._clock.now()
        manifest = self._manifest(place)
        bodies = self._bodies(place, manifest, message, policy, first, apart=bool(grown))
        if place.surface != PLATFORM:
            rows = [replace(row, state="sent", message=message, feed_seq=self.feed.stamp()) for row in grown]
            rows = rows or [self._row(event, place, run_id, "message", message, self._state(place, manifest))]
            return Composed(
                rows, [outbox_rows.finish_stream(row, now) if grown else outbox_rows.put(row) for row in rows]
            )
        finished = [
            self._finished(row, body, self._state(place, manifest), now)
            for row, body in zip(grown, _editable(bodies), strict=False)
        ]
        further = [
            self._row(event, place, run_id, "message", body, self._state(place, manifest))
            for body in bodies[len(finished) :]
        ]
        spare = [replace(row, state="failed", reason=FEWER) for row in grown[len(finished) :]]
        ends = [outbox_rows.finish_stream(row, now) for row in [*finished, *spare]]
        return Composed([*finished, *further, *spare], [*ends, *(outbox_rows.put(row) for row in further)])

    def responded(self, draft: Draft, rows: Sequence[Outgoing]) -> None:
        """Adds the response events for rows that count as sent as soon as their unit is committed."""
        for row in rows:
            if row.state == "sent":
                self._responses.draft(draft, row)

    def compose(
        self,
        event: RecordedEvent,
        run_id: str,
        kind: Kind,
        message: MessageBody,
        code: str = "",
        place: Place | None = None,
    ) -> Outgoing:
        """Composes one short row for this conversation, or for a target that the operator configured, in its initial
        state.
        """
        place = place or targets.of(event, DEFAULT)
        manifest = self._manifest(place)
        body = next(iter(self._bodies(place, manifest, message, DEFAULT, first=False)), message)
        return self._row(event, place, run_id, kind, body, self._state(place, manifest), code)

    def replaces(self, bot_id: str) -> bool:
        """Returns whether an approval prompt of this bot is edited into its outcome: its platform has buttons and
        edits.
        """
        manifest = self._bots.manifest(bot_id)
        return manifest is not None and manifest.buttons and "edit_message" in manifest.supported_apis

    def notice(self, event: RecordedEvent, run_id: str, code: str, sentence: str) -> Outgoing:
        """Composes a notice with this code and text."""
        message = {"role": "assistant", "content": sentence, "metadata": {"notice": code}}
        return self.compose(event, run_id, "notice", message, code)

    def committed(self, rows: list[Outgoing]) -> None:
        """Publishes or enqueues rows whose unit is committed."""
        for row in rows:
            if row.kind == "notice":
                self._tact.told(row.conversation_id)
            match row.state:
                case "sent":
                    self.feed.shown(row)
                    self._responses.durable(row)
                case "failed":
                    self._streams.withdraw(row)
                case _:
                    self._outbox.offer(row)

    def abandoned(self, rows: list[Outgoing], failure: GuardFailed | StorageFailed) -> None:
        """Releases rows whose commit failed. If the result of the commit is unknown, the outbox checks for them."""
        for row in rows:
            self._streams.forget(row.outbox_id)
            if row.state == "sending":
                self._outbox.release(row.target)
            if isinstance(failure, StorageFailed) and failure.uncertain and row.state in ("pending", "sending"):
                # if it is not stored in this state, the guard of its first state change fails and the row is reloaded
                self._outbox.offer(row.with_state("pending"))

    async def deliver(self, journal: Journal, unit: Unit, rows: list[Outgoing]) -> None:
        """Commits a unit that stores these rows, then publishes or enqueues them."""
        try:
            await journal.commit(unit)
        except (GuardFailed, StorageFailed) as failure:
            self.abandoned(rows, failure)
            raise
        self.committed(rows)

    def _manifest(self, place: Place) -> AdapterManifest | None:
        """Returns the manifest of the target's adapter; None if the target is no platform or the bot does not exist."""
        return self._bots.manifest(place.bot_id) if place.surface == PLATFORM else None

    def _grows(self, place: Place, manifest: AdapterManifest | None, policy: DeliveryPolicy) -> bool:
        if place.surface != PLATFORM:
            return place.surface == "webui"
        able = manifest is not None and grows(manifest) and not place.nowhere
        return able and policy.streaming and self._bots.connected(place.bot_id)

    def _bodies(
        self,
        place: Place,
        manifest: AdapterManifest | None,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        apart: bool = False,
    ) -> list[MessageBody]:
        """Renders the message into the bodies of its rows, one per part."""
        if manifest is None or place.nowhere:
            return [message]
        kept: MessageBody = {name: message[name] for name in KEPT if name in message}
        if "chain" in message:  # a chain that was written for this platform
            return [{**kept, "content": message["content"], "chain": message["chain"]}]
        parts = render(message, manifest, policy, _quoted(place.address, policy, first), apart)
        bodies: list[MessageBody] = [{**kept, "content": part.text, "chain": part.chain} for part in parts]
        if bodies and "approval" in kept:
            bodies[0]["chain"] = [*bodies[0]["chain"], *buttons.under(message, manifest)]
        return bodies

    def _finished(self, row: Outgoing, body: MessageBody, state: State, now: int) -> Outgoing:
        whole = {**body, GREW: True}
        return replace(row, state=state, message=whole, expires_at=now + EXPIRY_MILLISECONDS)

    def _state(self, place: Place, manifest: AdapterManifest | None) -> State:
        if not self._outbox.sends(place.surface):
            return "sent"
        if place.nowhere and manifest is not None:
            return "failed"
        waits = manifest is not None and self._waits(place, manifest)
        return "pending" if waits else self._outbox.reserve(place.target)

    def _waits(self, place: Place, manifest: AdapterManifest) -> bool:
        away = not self._bots.connected(place.bot_id)
        return away or self._pace.wait(room(place.bot_id, place.address), manifest.limits) > 0

    def _row(
        self,
        event: RecordedEvent,
        place: Place,
        run_id: str,
        kind: Kind,
        message: MessageBody,
        state: State,
        code: str = "",
    ) -> Outgoing:
        now = self._clock.now()
        return Outgoing(
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
            feed_seq=self.feed.stamp(),
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

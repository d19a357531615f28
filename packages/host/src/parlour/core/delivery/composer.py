"""Composes outbox rows from the output of runs, and describes to runners what their target can show.

The target comes from the event, never from the runner: a reply goes where its event came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from parlour.core.journal import Statement
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
from .outbox import Outbox
from .rate_limits import PlatformRateLimiter
from .rendering.components import approval_buttons
from .rendering.parts import is_text, render
from .streaming.streamed_message import STREAMED
from .streaming.streams import can_stream
from .targets import PLATFORM, ReplyTarget, rate_scope

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


class MessageComposer:
    """Composes the rows of one message: its target, its rendered parts and its initial state."""

    def __init__(
        self,
        feed: Feed,
        outbox: Outbox,
        bots: PlatformBots,
        rate_limiter: PlatformRateLimiter,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._feed = feed
        self._outbox = outbox
        self._bots = bots
        self._rate_limiter = rate_limiter
        self._ids = ids
        self._clock = clock

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
            rows = [replace(row, state="sent", message=message, feed_seq=self._feed.next_seq()) for row in grown]
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
        parts = render(message, manifest, policy, targets.quoted_message_id(place.address, policy, first), apart)
        bodies: list[MessageBody] = [{**kept, "content": part.text, "chain": part.chain} for part in parts]
        if bodies and "approval" in kept:
            bodies[0]["chain"] = [*bodies[0]["chain"], *approval_buttons(message, manifest)]
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
        return away or self._rate_limiter.delay(rate_scope(place.bot_id, place.address), manifest.limits) > 0

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
            feed_seq=self._feed.next_seq(),
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

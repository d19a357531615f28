"""Composes outbox rows from the output of runs, and describes to runners what their target can show.

The target comes from the event, never from the runner: a reply goes where its event came from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from parlour.core.journal import Statement
from parlour.core.model.delivery_policy import DEFAULT_DELIVERY_POLICY, DeliveryPolicy
from parlour.core.model.doors import LIVE_SURFACES
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import BotId, OutboxId, RunId
from parlour.core.model.outbox_row import OutboxKind, OutboxRow, OutboxState
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.reply_allowance import ReplyUse
from parlour.core.platforms.connections import PlatformBots
from parlour.core.platforms.manifest import AdapterManifest
from parlour.core.store import outbox_rows
from parlour.core.texts.catalogue import text
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from . import targets
from .feed import Feed
from .outbox import Outbox
from .rate_limits import PlatformRateLimiter
from .rendering.components import approval_buttons
from .rendering.parts import is_text, render
from .rendering.suggestions import suggestions_of
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
        languages: Languages,
        ids: Ids,
        clock: Clock,
    ) -> None:
        self._feed = feed
        self._outbox = outbox
        self._bots = bots
        self._rate_limiter = rate_limiter
        self._languages = languages
        self._ids = ids
        self._clock = clock

    def capabilities_for_runner(self, event: RecordedEvent, policy: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the description of the reply target and its capabilities that is sent to the runner."""
        decoded = DeliveryPolicy.decode(policy)
        reply_target = targets.reply_target(event, decoded)
        manifest = self._manifest(reply_target)
        description: dict[str, Any] = {
            "surface": reply_target.surface,
            "supports_streaming": self._supports_streaming(reply_target, manifest, decoded),
        }
        if manifest is None:
            return description
        apis, limit = manifest.supported_apis, manifest.limits.text
        return {
            **description,
            "reply_target": {name: value for name, value in reply_target.address.items() if value and name != "chat"},
            "supports_edit": "edit_message" in apis,
            "supports_reaction": "react" in apis,
            "max_message_size": min(limit, decoded.max_message_size or limit),
            "platform_capabilities": list(apis),
        }

    def supports_streaming(self, event: RecordedEvent, policy: DeliveryPolicy = DEFAULT_DELIVERY_POLICY) -> bool:
        """Returns whether the users of this conversation see a message while it is being written."""
        reply_target = targets.reply_target(event, policy)
        return self._supports_streaming(reply_target, self._manifest(reply_target), policy)

    def can_send(self, event: RecordedEvent, policy: DeliveryPolicy, component: str) -> bool:
        """Returns whether the platform of the reply shows components of this type."""
        manifest = self._manifest(targets.reply_target(event, policy))
        return manifest is not None and component in manifest.components.send

    def open_stream(self, event: RecordedEvent, run_id: RunId, policy: DeliveryPolicy) -> OutboxRow:
        """Returns the row for a message that is about to be streamed, in state `streaming`."""
        reply_target = targets.reply_target(event, policy)
        return self._row(event, reply_target, run_id, "message", {"role": "assistant", "content": ""}, "streaming")

    def compose_reply(
        self,
        event: RecordedEvent,
        run_id: RunId,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        streamed_rows: Sequence[OutboxRow] = (),
    ) -> ComposedRows:
        """Composes the final message. `streamed_rows` are the rows under which it was streamed so far."""
        reply_target, now = targets.reply_target(event, policy), self._clock.now()
        manifest = self._manifest(reply_target)
        mention = _mentioned_sender(event, reply_target, policy) if first else ""
        suggestions, language = suggestions_of(message), self._languages.for_event(event.envelope)
        footer = suggestions.as_text(manifest, language) if manifest is not None else ""
        bodies = self._render(
            reply_target,
            manifest,
            message,
            policy,
            first,
            separate_media=bool(streamed_rows),
            mention=mention,
            footer=footer,
        )
        buttons = suggestions.as_buttons(manifest, run_id) if manifest is not None and "chain" not in message else []
        if buttons and bodies and "chain" in bodies[-1]:
            heading = text("suggestions.heading", language)
            bodies = _with_buttons(bodies, buttons, heading, is_streamed=bool(streamed_rows))
        if reply_target.surface != PLATFORM:
            rows = [
                replace(row, state="sent", message=message, feed_seq=self._feed.next_seq()) for row in streamed_rows
            ]
            rows = rows or [
                self._row(event, reply_target, run_id, "message", message, self._state(reply_target, manifest))
            ]
            return ComposedRows(
                rows,
                [outbox_rows.complete_stream(row, now) if streamed_rows else outbox_rows.insert(row) for row in rows],
            )
        completed_rows = [
            self._completed_row(row, body, self._state(reply_target, manifest), now)
            for row, body in zip(streamed_rows, _editable(bodies), strict=False)
        ]
        delay = policy.delay_ms if first and not completed_rows else 0
        new_rows = [
            self._row(
                event,
                reply_target,
                run_id,
                "message",
                body,
                self._state(reply_target, manifest, is_delayed=bool(delay)),
            )
            for body in bodies[len(completed_rows) :]
        ]
        if delay and new_rows:
            new_rows[0] = replace(new_rows[0], not_before=now + delay)
        unused_rows = [replace(row, state="failed", reason=UNUSED_PART) for row in streamed_rows[len(completed_rows) :]]
        completions = [outbox_rows.complete_stream(row, now) for row in [*completed_rows, *unused_rows]]
        return ComposedRows(
            [*completed_rows, *new_rows, *unused_rows], [*completions, *(outbox_rows.insert(row) for row in new_rows)]
        )

    def compose_message(
        self,
        event: RecordedEvent,
        run_id: RunId,
        kind: OutboxKind,
        message: MessageBody,
        code: str = "",
        reply_target: ReplyTarget | None = None,
    ) -> OutboxRow:
        """Composes one short row for this conversation, or for a target that the operator configured, in its initial
        state.
        """
        reply_target = reply_target or targets.reply_target(event, DEFAULT_DELIVERY_POLICY)
        manifest = self._manifest(reply_target)
        body = next(iter(self._render(reply_target, manifest, message, DEFAULT_DELIVERY_POLICY, first=False)), message)
        return self._row(event, reply_target, run_id, kind, body, self._state(reply_target, manifest), code)

    def can_edit_prompts(self, bot_id: BotId) -> bool:
        """Returns whether an approval prompt of this bot is edited into its outcome: its platform has buttons and
        edits.
        """
        manifest = self._bots.manifest(bot_id)
        return manifest is not None and manifest.buttons and "edit_message" in manifest.supported_apis

    def compose_notice(self, event: RecordedEvent, run_id: RunId, code: str, text: str) -> OutboxRow:
        """Composes a notice with this code and text."""
        message = {"role": "assistant", "content": text, "metadata": {"notice": code}}
        return self.compose_message(event, run_id, "notice", message, code)

    def _manifest(self, reply_target: ReplyTarget) -> AdapterManifest | None:
        """Returns the manifest of the target's adapter; None if the target is no platform or the bot does not exist."""
        return self._bots.manifest(reply_target.bot_id) if reply_target.surface == PLATFORM else None

    def _supports_streaming(
        self, reply_target: ReplyTarget, manifest: AdapterManifest | None, policy: DeliveryPolicy
    ) -> bool:
        if reply_target.surface != PLATFORM:
            return reply_target.surface in LIVE_SURFACES
        can_show_stream = manifest is not None and can_stream(manifest) and not reply_target.has_no_chat
        can_show_stream = can_show_stream and reply_target.can_stream
        return can_show_stream and policy.streaming and self._bots.is_connected(reply_target.bot_id)

    def _render(
        self,
        reply_target: ReplyTarget,
        manifest: AdapterManifest | None,
        message: MessageBody,
        policy: DeliveryPolicy,
        first: bool,
        separate_media: bool = False,
        mention: str = "",
        footer: str = "",
    ) -> list[MessageBody]:
        """Renders the message into the bodies of its rows, one per part."""
        if manifest is None or reply_target.has_no_chat:
            return [message]
        shared_fields: MessageBody = {name: message[name] for name in SHARED_FIELDS if name in message}
        if "chain" in message:  # a chain that was written for this platform
            return [{**shared_fields, "content": message["content"], "chain": message["chain"]}]
        quote = targets.quoted_message_id(reply_target.address, policy, first)
        parts = render(message, manifest, policy, quote, separate_media, mention, footer)
        bodies: list[MessageBody] = [{**shared_fields, "content": part.text, "chain": part.chain} for part in parts]
        if bodies and "approval" in shared_fields:
            bodies[0]["chain"] = [*bodies[0]["chain"], *approval_buttons(message, manifest)]
        return bodies

    def _completed_row(self, row: OutboxRow, body: MessageBody, state: OutboxState, now: int) -> OutboxRow:
        message = {**body, STREAMED: True}
        return replace(row, state=state, message=message, expires_at=now + EXPIRY_MILLISECONDS)

    def _state(
        self, reply_target: ReplyTarget, manifest: AdapterManifest | None, is_delayed: bool = False
    ) -> OutboxState:
        if not self._outbox.handles(reply_target.surface):
            return "sent"
        if reply_target.has_no_chat and manifest is not None:
            return "failed"
        if reply_target.reply_event_id or is_delayed:  # the unit that marks it as `sending` counts it
            return "pending"
        must_wait = manifest is not None and self._must_wait(reply_target, manifest)
        return "pending" if must_wait else self._outbox.try_reserve(reply_target.target)

    def _must_wait(self, reply_target: ReplyTarget, manifest: AdapterManifest) -> bool:
        is_offline = not self._bots.is_connected(reply_target.bot_id)
        return (
            is_offline
            or self._rate_limiter.delay(rate_scope(reply_target.bot_id, reply_target.address), manifest.limits) > 0
        )

    def _row(
        self,
        event: RecordedEvent,
        reply_target: ReplyTarget,
        run_id: RunId,
        kind: OutboxKind,
        message: MessageBody,
        state: OutboxState,
        code: str = "",
    ) -> OutboxRow:
        now = self._clock.now()
        is_counted = bool(reply_target.reply_event_id) and not message.get("edits")
        return OutboxRow(
            outbox_id=OutboxId(self._ids.new()),
            surface=reply_target.surface,
            target=reply_target.target,
            conversation_id=event.conversation_id,
            bot_id=reply_target.bot_id,
            run_id=run_id,
            kind=kind,
            state=state,
            message=message,
            address=reply_target.address,
            feed_seq=self._feed.next_seq(),
            created_at=now,
            expires_at=now + EXPIRY_MILLISECONDS,
            code=code,
            locale=event.envelope.locale,
            reason=NO_CHAT if state == "failed" else "",
            reply=ReplyUse(reply_target.reply_event_id) if is_counted else None,
        )


def _mentioned_sender(event: RecordedEvent, reply_target: ReplyTarget, policy: DeliveryPolicy) -> str:
    """Returns the id of the sender whom a reply in a group mentions; empty if it mentions no one."""
    is_mentioned = policy.mention_sender and reply_target.address.get("chat_type") == "group"
    return event.envelope.actor.id if is_mentioned else ""


def _with_buttons(
    bodies: list[MessageBody], buttons: list[dict[str, Any]], heading: str, is_streamed: bool
) -> list[MessageBody]:
    """Adds buttons to the last text.

    Below a file or a streamed message they are a message of their own, since not every platform can add buttons to a
    message that is already shown.
    """
    *earlier, last = bodies
    if is_text(last["chain"]) and not is_streamed:
        return [*earlier, {**last, "chain": [*last["chain"], *buttons]}]
    return [*bodies, {**last, "content": heading, "chain": [{"type": "Plain", "text": heading}, *buttons]}]


def _editable(bodies: list[MessageBody]) -> list[MessageBody]:
    """Returns the leading bodies that a streamed text message can be edited into.

    The list ends before the first file: a file is a message of its own, and everything after it must follow it.
    """
    texts = list(takewhile(lambda body: is_text(body.get("chain", ())), bodies))
    return texts or bodies[:1]

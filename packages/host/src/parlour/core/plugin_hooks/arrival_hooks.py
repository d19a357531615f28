"""Asks plugins about messages that an agent is about to answer: they may answer, change or stop them.

The answers are recorded before anything follows from them. A crash before that asks again; after it, the record holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from parlour.core.delivery.service import DeliveryService
from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.journal import Journal, Select, UnitBuilder, where
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventContext, EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN, EventId, PluginId
from parlour.core.model.ports import Clock
from parlour.core.model.resource_policy import Names
from parlour.core.platforms.connections import PlatformBots
from parlour.core.runs.message_hooks import NOT_HOOKED, HookedMessage, HookRecord
from parlour.core.store import event_notes, outbox_rows
from parlour.core.store.tables import TRAIL
from parlour_sdk.protocol.components import ChangedInput, EventOutcome
from parlour_sdk.protocol.content import plain_text

from . import payloads
from .hook_messages import MAX_HOOK_CHARACTERS, build_message, require_bounds
from .host_events import ORIGIN, SOURCE
from .path_hooks import PathHooks

EVENT_TYPE = "message.arriving"
STEP = "hooks.arriving"
"""Step of the event's trail that records the answers."""
MEDIA_TYPES = ("image", "audio", "video", "file")


class ArrivingHooks:
    """Asks the plugins that were granted `message.arriving`."""

    def __init__(
        self, hooks: PathHooks, delivery: DeliveryService, bots: PlatformBots, journal: Journal, clock: Clock
    ) -> None:
        self._hooks = hooks
        self._delivery = delivery
        self._bots = bots
        self._journal = journal
        self._clock = clock

    def are_asked(self, binding: Binding, envelope: EventEnvelope) -> bool:
        """Returns whether a plugin is asked about this message. Runs that plugins create ask no one."""
        return (
            envelope.event_type == MESSAGE_TYPE
            and envelope.run_request is None
            and bool(self._hooks.calls(EVENT_TYPE, hook_plugins(binding)))
        )

    async def recorded(self, event_seq: int) -> HookedMessage | None:
        rows = await self._journal.read(Select(TRAIL, where(entry_id=f"{event_seq}:{STEP}"), limit=1))
        if not rows:
            return None
        data = loads(rows[0]["data"])
        return HookedMessage(data["stopped_by"], data["has_replies"], data["input"], data["variables"])

    async def ask(self, event: RecordedEvent, binding: Binding, rehearsal: bool = False) -> HookRecord:
        """Asks the plugins in order; each gets the message as those before it have changed it."""
        answers = _Answers(event.envelope, self._bots)
        hooks = await self._hooks.ask(
            self._hooks.calls(EVENT_TYPE, hook_plugins(binding)),
            lambda: _hook_event(event, answers.envelope, binding, self._clock.now()),
            answers.apply,
            {},
            rehearsal,
        )
        changed = dict(answers.envelope.input) if answers.envelope.input is not event.envelope.input else None
        message = HookedMessage(hooks.stopped_by, bool(answers.replies), changed, hooks.variables)
        return HookRecord(message, hooks.to_json(), answers.replies)

    async def record(self, event: RecordedEvent, record: HookRecord) -> HookedMessage:
        """Records the answers and sends the replies, in one unit."""
        message, composer = record.message, self._delivery.composer
        if not record.answers:
            return NOT_HOOKED
        rows = [composer.compose_message(event, NO_RUN, "message", dict(each)) for each in record.replies]
        data = {
            "text": hook_sentence(record.answers),
            "hooks": list(record.answers),
            "stopped_by": message.stopped_by,
            "has_replies": message.has_replies,
            "input": message.input,
            "variables": message.variables,
            event_notes.OUTBOX_IDS: [row.outbox_id for row in rows],
        }
        unit = UnitBuilder("hooks.answer")
        unit.add(event_notes.add_note(event.seq, STEP, data, self._clock.now()))
        unit.add(*(outbox_rows.insert(row) for row in rows))
        await self._delivery.publisher.deliver(self._journal, unit.build(), rows)
        return message


def hook_plugins(binding: Binding) -> Names:
    """Returns the plugins that may take part for this binding: a pipeline can leave some out."""
    return binding.pipeline.plugins if binding.pipeline is not None else "*"


def hook_sentence(answers: Sequence[Mapping[str, str]]) -> str:
    """Returns a sentence about the answers, for readers that don't know their codes."""
    return " ".join(f"Plugin {answer['plugin']}: {answer['code']}." for answer in answers)


class _Answers:
    """Collects the answers of plugins to one message."""

    def __init__(self, envelope: EventEnvelope, bots: PlatformBots) -> None:
        self.envelope = envelope
        self.replies: list[dict[str, Any]] = []
        self._original = envelope
        self._bots = bots

    def apply(self, plugin_id: PluginId, outcome: EventOutcome) -> str:
        require_bounds(outcome.replies)
        replies = [build_message(self._bots, self._original.bot_id, each) for each in outcome.replies]
        changed = None if outcome.input is None else _changed_input(self._original.input, outcome.input)
        if outcome.prompt or outcome.prompt_additions or outcome.replacement is not None:
            raise CallRejected("invalid_argument", "only `input` and `replies` are possible for message.arriving")
        self.replies += replies
        if changed is not None:
            self.envelope = replace(self.envelope, input=changed)
        if outcome.stop_propagation:
            return "answered" if replies else "stopped"
        return "changed" if changed is not None else "replied" if replies else "passed"


def _changed_input(original: Mapping[str, Any], change: ChangedInput) -> dict[str, Any]:
    """Returns the input of a message with the text or the elements that a plugin gave; its files remain."""
    contents = None if change.contents is None else [each.model_dump(mode="json") for each in change.contents]
    text = change.text if change.text is not None else plain_text(change.contents)
    if not text and not contents:
        raise CallRejected("invalid_argument", "`input` has neither a text nor elements")
    if len(text) > MAX_HOOK_CHARACTERS:
        raise CallRejected("too_large", f"`input` has more than {MAX_HOOK_CHARACTERS} characters")
    known = original.get("contents") or []
    if contents is not None and any(each["type"] in MEDIA_TYPES and not _is_known(each, known) for each in contents):
        raise CallRejected("denied", "`input.contents` names a file that the message does not have")
    if contents is None and known:
        contents = [{"type": "text", "text": text}, *(each for each in known if each.get("type") != "text")]
    return {**original, "text": text, **({"contents": contents} if contents is not None else {})}


def _is_known(element: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> bool:
    sources = ("artifact_id", "url", "content_base64")
    return any(
        other.get("type") == element["type"] and all(other.get(name) == element.get(name) for name in sources)
        for other in known
    )


def _hook_event(event: RecordedEvent, envelope: EventEnvelope, binding: Binding, now: int) -> RecordedEvent:
    """Builds the event for the handlers. It is not stored."""
    identity = EventId(f"arriving:{envelope.event_id}")
    fields = payloads.event_payload(replace(event, envelope=envelope))
    names = ("message_id", "message_chain", "sender", "chat_type", "chat_id", "group")
    data = {name: fields[name] for name in names if name in fields}
    if envelope.input is not event.envelope.input:
        data["message_chain"] = [{"type": "Plain", "text": envelope.text}]
    hook_envelope = replace(
        envelope,
        event_id=identity,
        event_type=EVENT_TYPE,
        source=SOURCE,
        context=EventContext(identity, envelope.context.id, ORIGIN),
        event_time=now,
        data={**data, "agent_id": binding.agent.agent_id, "text": envelope.text or None},
    )
    return replace(event, envelope=hook_envelope)

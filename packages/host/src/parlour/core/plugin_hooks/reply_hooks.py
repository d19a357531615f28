"""Asks plugins about completed messages before they are filtered: they may replace, add to or stop them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parlour.core.delivery.reply_hooks import PreparedReply, ReplyDraft
from parlour.core.errors import CallRejected
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventContext, Participant, RecordedEvent
from parlour.core.model.ids import EventId, PluginId
from parlour.core.model.ports import Clock
from parlour_sdk.protocol.components import CommandReply, EventOutcome

from .arrival_hooks import hook_plugins
from .hook_messages import build_reply, require_bounds
from .host_events import ORIGIN, SOURCE
from .path_hooks import PathHooks

EVENT_TYPE = "reply.preparing"
Message = tuple[dict[str, Any], str]


class PluginReplyHooks:
    """Asks the plugins that were granted `reply.preparing`."""

    def __init__(self, hooks: PathHooks, clock: Clock) -> None:
        self._hooks = hooks
        self._clock = clock

    def are_asked(self, binding: Binding) -> bool:
        """Returns whether a plugin is asked about the replies of this agent."""
        return bool(self._hooks.calls(EVENT_TYPE, hook_plugins(binding)))

    async def prepare(self, draft: ReplyDraft) -> PreparedReply:
        """Asks the plugins in order; each gets the first message as those before it have left it."""
        calls = self._hooks.calls(EVENT_TYPE, hook_plugins(draft.binding))
        answers = _Answers((draft.message, draft.text))
        hooks = await self._hooks.ask(
            calls,
            lambda: _hook_event(draft, answers.current, self._clock.now()),
            answers.apply,
            dict(draft.variables),
            draft.rehearsal,
        )
        return PreparedReply(answers.messages, hooks.to_json())


class _Answers:
    """Collects the answers of plugins to one message."""

    def __init__(self, message: Message) -> None:
        self.current = message
        """The message that the next plugin gets."""
        self._messages: list[Message] = [message]
        self._added: list[Message] = []

    @property
    def messages(self) -> Sequence[Message]:
        return [*self._messages, *self._added]

    def apply(self, plugin_id: PluginId, outcome: EventOutcome) -> str:
        replacement = outcome.replacement
        require_bounds([*(replacement or ()), *outcome.replies])
        if outcome.prompt or outcome.prompt_additions or outcome.input is not None:
            raise CallRejected("invalid_argument", "only `replacement` and `replies` are possible for reply.preparing")
        replaced = None if replacement is None else [_built(each, self.current[0]) for each in replacement]
        added = [_built(each, {"role": "assistant"}) for each in outcome.replies]
        if outcome.stop_propagation and replaced is None:
            replaced = []
        if replaced is not None:
            self._messages = replaced
            self.current = replaced[0] if replaced else self.current
        self._added += added
        if replaced is not None:
            return "replaced_reply" if replaced else "stopped_reply"
        return "added_reply" if added else "passed"


def _built(reply: CommandReply, original: dict[str, Any]) -> Message:
    message = build_reply(reply)
    kept: dict[str, Any] = {name: original[name] for name in ("role", "metadata") if name in original}
    content = message["content"]
    text = content if isinstance(content, str) else "".join(each.get("text", "") for each in content)
    return {**message, **kept}, text


def _hook_event(draft: ReplyDraft, message: Message, now: int) -> RecordedEvent:
    """Builds the event for the handlers. It is not stored."""
    cause, identity = draft.event.envelope, EventId(f"reply:{draft.run_id}")
    data = {
        "run_id": draft.run_id,
        "agent_id": draft.binding.agent.agent_id or None,
        "conversation_id": draft.event.conversation_id,
        "chat_type": cause.data.get("chat_type") or "private",
        "chat_id": str(cause.data.get("chat_id") or cause.chat),
        "text": message[1],
        "content": message[0].get("content") or "",
    }
    envelope = replace(
        cause,
        event_id=identity,
        event_type=EVENT_TYPE,
        source=SOURCE,
        context=EventContext(identity, draft.run_id, ORIGIN),
        event_time=now,
        subject=Participant("run", draft.run_id),
        data=data,
    )
    return replace(draft.event, created_at=now, envelope=envelope)

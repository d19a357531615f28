"""The port of plugins that are asked about a message before its agent answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Protocol

from parlour.core.message_policy.inputs import without_original
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class HookedMessage:
    """What plugins decided about a message. It is recorded, so a retry does not ask them again."""

    stopped_by: str = ""
    """Plugin that stopped the message; empty if an agent answers it."""
    has_replies: bool = False
    input: Mapping[str, Any] | None = None
    """What the agent reads; None if no plugin changed it."""
    variables: Mapping[str, Any] = field(default_factory=dict)

    def apply(self, envelope: EventEnvelope) -> EventEnvelope:
        """Returns the message as the plugins changed it."""
        if self.input is None:
            return envelope
        return without_original(replace(envelope, input=dict(self.input)))


NOT_HOOKED = HookedMessage()


@dataclass(frozen=True, slots=True)
class HookRecord:
    """The answers of plugins about one message, before they are recorded."""

    message: HookedMessage
    answers: Sequence[Mapping[str, str]]
    """Plugin, code and reason of each answer."""
    replies: Sequence[Mapping[str, Any]] = ()
    """Messages for the chat."""


class MessageHooks(Protocol):
    """Asks plugins about messages."""

    def are_asked(self, binding: Binding, envelope: EventEnvelope) -> bool:
        """Returns whether a plugin is asked about this message."""
        ...

    async def recorded(self, event_seq: int) -> HookedMessage | None:
        """Returns what was recorded about a message earlier; None if nothing was, and then plugins may be asked
        again.
        """
        ...

    async def ask(self, event: RecordedEvent, binding: Binding, rehearsal: bool = False) -> HookRecord:
        """Asks the plugins. Nothing is written or sent."""
        ...

    async def record(self, event: RecordedEvent, record: HookRecord) -> HookedMessage:
        """Records the answers and sends the replies, in one unit."""
        ...

"""The port of plugins that are asked about the messages of runs before they are sent."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.ids import RunId
from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class ReplyDraft:
    """A message that an agent completed, before it is filtered and sent."""

    event: RecordedEvent
    run_id: RunId
    binding: Binding
    message: dict[str, Any]
    text: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    rehearsal: bool = False
    """True for a rerun, whose messages are not sent."""


@dataclass(frozen=True, slots=True)
class PreparedReply:
    """The messages that take the place of one, each with its text, and the answers of plugins for the trail."""

    messages: Sequence[tuple[dict[str, Any], str]]
    answers: Sequence[Mapping[str, str]] = ()


class ReplyHooks(Protocol):
    """Asks plugins about replies."""

    def are_asked(self, binding: Binding) -> bool:
        """Returns whether a plugin is asked about the replies of this agent. They are then not streamed."""
        ...

    async def prepare(self, draft: ReplyDraft) -> PreparedReply:
        """Asks the plugins about one message."""
        ...

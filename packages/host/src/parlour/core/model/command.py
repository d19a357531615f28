"""Chat commands: text that the Host itself handles, such as `/stop`. A command never enters a lane.

A handler sees every event before it is queued, so it must decide immediately, from memory. A recognized command is
recorded as an event and then executed, even while a run is active.
"""

from collections.abc import Sequence
from typing import Protocol

from parlour_sdk.values import dataclass

from .event import EventEnvelope, RecordedEvent

CHATS = ("webui", "platform")
"""Surfaces on which users chat; on other surfaces a text that looks like a command is data."""


@dataclass(frozen=True, slots=True)
class ControlInput:
    """A recognized command: its name, and an argument in a format of its handler."""

    name: str
    argument: str = ""
    lasting: bool = False
    """True if it may take long: the caller does not wait for it, and it is not started a second time."""


@dataclass(frozen=True, slots=True)
class Acted:
    """Result of an executed command."""

    told: str
    """A short clause for the event's trail."""
    word: str = ""
    """Reply to the user who sent the command; empty for none."""
    conversation_id: str = ""
    """Conversation in which the chat continues, if the command changed it. The reply is sent there."""


class Recognizer(Protocol):
    """Recognizes and executes some commands."""

    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        """Returns the command of this event, or None. It is called for every event, so it must be cheap."""
        ...

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        """Executes the command. It must be idempotent: it is called again if an earlier execution is uncertain."""
        ...


@dataclass(frozen=True, slots=True)
class Recognized:
    """A command together with its handler."""

    control_input: ControlInput
    recognizer: Recognizer

    async def act(self, event: RecordedEvent) -> Acted:
        return await self.recognizer.act(self.control_input, event)


class Control:
    """Finds the command of an event by trying all handlers in order."""

    def __init__(self, recognizers: Sequence[Recognizer]) -> None:
        self._recognizers = tuple(recognizers)

    def recognize(self, event: EventEnvelope) -> Recognized | None:
        """Returns the command of the first handler that recognizes the event."""
        for recognizer in self._recognizers:
            control_input = recognizer.recognize(event)
            if control_input is not None:
                return Recognized(control_input, recognizer)
        return None

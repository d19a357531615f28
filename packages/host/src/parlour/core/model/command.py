"""Control input: what people say to the Host itself, such as `/stop`. It never enters a lane.

A recognizer sees every event before it is owed, so it answers at once, from what it has in memory. What it recognizes
is recorded as an event and then acted upon, also while a run goes on.
"""

from collections.abc import Sequence
from typing import Protocol

from parlour_sdk.values import dataclass

from .event import EventEnvelope, RecordedEvent

CHATS = ("webui", "platform")
"""Surfaces where people talk; elsewhere a text that looks like a command is data."""


@dataclass(frozen=True, slots=True)
class ControlInput:
    """What was recognized: the name of the instruction, and what it is about as its recognizer writes it."""

    name: str
    argument: str = ""
    lasting: bool = False
    """It may take its time: nobody waits for it, and it is not begun a second time."""


@dataclass(frozen=True, slots=True)
class Acted:
    """What became of an instruction."""

    told: str
    """For the trail: a short clause."""
    word: str = ""
    """For the person who gave it; empty when nothing is to be said."""
    conversation_id: str = ""
    """Where the chat goes on, if that is elsewhere now. The word is said there."""


class Recognizer(Protocol):
    def recognize(self, event: EventEnvelope) -> ControlInput | None:
        """None for what is not its business. Asked for every event: cheap, and it waits for nothing."""
        ...

    async def act(self, control_input: ControlInput, event: RecordedEvent) -> Acted:
        """Carries it out. Asked again for the same event when it is not known whether it was: it does no harm twice."""
        ...


@dataclass(frozen=True, slots=True)
class Recognized:
    control_input: ControlInput
    recognizer: Recognizer

    async def act(self, event: RecordedEvent) -> Acted:
        return await self.recognizer.act(self.control_input, event)


class Control:
    def __init__(self, recognizers: Sequence[Recognizer]) -> None:
        self._recognizers = tuple(recognizers)

    def recognize(self, event: EventEnvelope) -> Recognized | None:
        """By the first that knows it."""
        for recognizer in self._recognizers:
            control_input = recognizer.recognize(event)
            if control_input is not None:
                return Recognized(control_input, recognizer)
        return None

"""Chat commands: text that the Host itself handles, such as `/stop`. A command never enters a lane.

A handler sees every event before it is queued, so it must decide immediately, from memory. A recognized command is
recorded as an event and then executed, even while a run is active.
"""

from collections.abc import Sequence
from typing import Protocol

from parlour_sdk.values import dataclass

from .event import EventEnvelope, RecordedEvent
from .ids import NO_CONVERSATION, ConversationId

CHAT_SURFACES = ("webui", "platform", "api", "preview")
"""Surfaces on which users chat; on other surfaces a text that looks like a command is data."""


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """A recognized command: its name, and an argument in a format of its handler."""

    name: str
    argument: str = ""
    long_running: bool = False
    """True if it may take long: the caller does not wait for it, and it is not started a second time."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of an executed command."""

    reason: str
    """A short clause for the event's trail."""
    reply: str = ""
    """Reply to the user who sent the command; empty for none."""
    conversation_id: ConversationId = NO_CONVERSATION
    """Conversation in which the chat continues, if the command changed it. The reply is sent there."""


class CommandHandler(Protocol):
    """Recognizes and executes some commands."""

    def recognize(self, event: EventEnvelope) -> ChatCommand | None:
        """Returns the command of this event, or None. It is called for every event, so it must be cheap."""
        ...

    async def execute(self, control_input: ChatCommand, event: RecordedEvent) -> CommandResult:
        """Executes the command. It must be idempotent: it is called again if an earlier execution is uncertain."""
        ...


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command together with its handler."""

    command: ChatCommand
    handler: CommandHandler

    async def execute(self, event: RecordedEvent) -> CommandResult:
        return await self.handler.execute(self.command, event)


class CommandParser:
    """Finds the command of an event by trying all handlers in order."""

    def __init__(self, recognizers: Sequence[CommandHandler]) -> None:
        self._recognizers = tuple(recognizers)

    def recognize(self, event: EventEnvelope) -> ParsedCommand | None:
        """Returns the command of the first handler that recognizes the event."""
        for recognizer in self._recognizers:
            control_input = recognizer.recognize(event)
            if control_input is not None:
                return ParsedCommand(control_input, recognizer)
        return None

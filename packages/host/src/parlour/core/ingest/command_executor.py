"""Executes chat commands: records the event, executes the command, then writes the outcome and a reply to the sender.

A command that is interrupted between the first and the last step is executed at the next start, or when its event is
delivered again. A long-running command is not executed a second time: its sender gets a reply that it was interrupted.
A command that fails is reported to its sender as failed.
"""

import logging
from collections.abc import Sequence

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.journal import Statement, StorageFailed, retry_on_storage_failure
from parlour.core.model.command import CommandParser, CommandResult, ParsedCommand
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import ConversationId, PartId
from parlour.core.texts.languages import Languages
from parlour_sdk.values import dataclass

from .command_log import CommandLog

logger = logging.getLogger(__name__)

NO_LONGER_APPLIES = CommandResult("it was cut off, and means nothing any more")
"""Result of an interrupted command that is no longer recognized as one."""


@dataclass(frozen=True, slots=True)
class CommandReceipt:
    """The result of handing an event to the command executor."""

    seq: int
    conversation_id: ConversationId
    """Conversation in which the chat continues."""
    already_executed: bool
    """True if the event was recorded before and is not executed again."""


class CommandExecutor:
    """Records and executes chat commands, and recovers those that a crash interrupted."""

    def __init__(self, parser: CommandParser, log: CommandLog, languages: Languages) -> None:
        self._parser = parser
        self._log = log
        self._languages = languages
        self._tasks = BackgroundTasks("command interrupted; it will be reported after the next start")

    def recognize(self, event: EventEnvelope) -> ParsedCommand | None:
        """Returns the command that the event carries; None if it carries none."""
        return self._parser.recognize(event)

    async def execute(
        self, event: EventEnvelope, parsed: ParsedCommand, extra_statements: Sequence[Statement]
    ) -> CommandReceipt:
        """Records and executes a command; a long-running one continues in the background after this returns.

        `extra_statements` are written after the event, whose number is that of statement 0.
        """
        name = parsed.command.name
        recorded, new = await self._log.record(event, name, extra_statements)
        is_long_running = parsed.command.long_running
        if not await self._log.is_unfinished(recorded, name) or (is_long_running and not new):
            return CommandReceipt(recorded.seq, recorded.conversation_id, already_executed=True)
        if is_long_running:
            self._tasks.start(self._execute_in_background(recorded, parsed))
            return CommandReceipt(recorded.seq, recorded.conversation_id, already_executed=False)
        result = await self._execute(recorded, parsed)
        return CommandReceipt(recorded.seq, result.conversation_id or recorded.conversation_id, already_executed=False)

    async def _execute(self, event: RecordedEvent, parsed: ParsedCommand) -> CommandResult:
        """Executes the command and writes its outcome. Raises StorageFailed; the source of the event then delivers it
        again.
        """
        name = parsed.command.name
        try:
            result = await parsed.execute(event)
        except StorageFailed:
            raise
        except Exception:  # the sender gets a reply now, not at the next start
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            result = self._failure_result(event, name)
        await self._log.complete(event, name, result)
        return result

    async def _execute_in_background(self, event: RecordedEvent, parsed: ParsedCommand) -> None:
        """Executes a command whose event is not delivered again. It retries until the outcome is written, and a command
        that was interrupted by a database failure is reported as failed.
        """
        name = parsed.command.name
        try:
            result = await parsed.execute(event)
        except Exception:  # the sender gets a reply now, as in `_execute`
            logger.exception("%s of event %s failed", name, event.envelope.event_id)
            result = self._failure_result(event, name)
        await retry_on_storage_failure(lambda: self._log.complete(event, name, result), f"the outcome of {name}")

    async def close(self) -> None:
        """Cancels background commands and waits until they have stopped."""
        await self._tasks.aclose()

    async def recover(self, part: PartId | None = None) -> None:
        """Executes commands that a previous process of the Host, or the previous owner of a part, recorded and may not
        have executed. Not every platform delivers an event again.
        """
        async for event in self._log.pending(part):
            try:
                await self._recover(event, self._parser.recognize(event.envelope))
            except Exception:  # a command that can't be executed must not keep the Host from starting
                logger.exception("the command of event %s was not executed", event.envelope.event_id)

    async def _recover(self, event: RecordedEvent, parsed: ParsedCommand | None) -> None:
        if parsed is None:
            await self._log.complete(event, "control", NO_LONGER_APPLIES)
        elif parsed.command.long_running:
            await self._log.complete(event, parsed.command.name, self._interrupted_result(event, parsed))
        else:
            await self._execute(event, parsed)

    def _interrupted_result(self, event: RecordedEvent, parsed: ParsedCommand) -> CommandResult:
        reply = self._languages.text(event, "command.cut_off", name=parsed.command.name)
        return CommandResult("it was cut off by a restart", reply)

    def _failure_result(self, event: RecordedEvent, name: str) -> CommandResult:
        reply = self._languages.text(event, "command.failed", name=name)
        return CommandResult("it was cut off by a failure, which the log tells of", reply)

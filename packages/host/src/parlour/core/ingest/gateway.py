"""The single entry of all events. An event is accepted when it is committed; a redelivery ends here."""

from collections.abc import Sequence

from parlour.core.journal import Ref, Statement
from parlour.core.model.command import ParsedCommand
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ids import PartId
from parlour.core.model.ports import Clock
from parlour.core.model.providers import ProviderFailed
from parlour.core.routing.router import Router

from .acceptance import EventAcceptor, IngestResult
from .arrivals import Arrivals, HostStopping
from .command_executor import CommandExecutor
from .observers import EventObservers
from .preparation import EventPreparer

PLATFORM = "platform"
"""Surface of events from platforms. A platform does not repeat an event that was rejected, so events that arrive while
the Host stops are stored and answered after the next start.
"""


class Gateway:
    """Routes events and has them accepted; chat commands are executed instead."""

    def __init__(
        self,
        router: Router,
        commands: CommandExecutor,
        observers: EventObservers,
        preparer: EventPreparer,
        acceptor: EventAcceptor,
        arrivals: Arrivals,
        clock: Clock,
    ) -> None:
        self.arrivals = arrivals
        self._router = router
        self._commands = commands
        self._observers = observers
        self._preparer = preparer
        self._acceptor = acceptor
        self._clock = clock
        self._closed = False

    def stop_accepting(self) -> None:
        """Rejects new events from now on, except those of platforms."""
        self._closed = True

    async def aclose(self) -> None:
        """Cancels long-running commands."""
        await self._commands.close()

    async def recover(self, part: PartId | None = None) -> None:
        """Executes or reports commands, of all parts or of one, that were interrupted by the last stop of the Host."""
        await self._commands.recover(part)

    async def ingest(self, event: EventEnvelope, *extra_statements: Statement) -> IngestResult:
        """Accepts an event and returns after the commit; from then on a crash loses nothing.

        Raises AnsweredElsewhere if it came with a request that another Host has to answer.
        `extra_statements` are written in the same unit or, if the event is a redelivery, with the note about it.
        """
        if self._closed and event.surface != PLATFORM:
            raise HostStopping(HostStopping.__doc__)
        await self.arrivals.require_key(event.conversation_key)
        said = await self._preparer.resolve(event)
        # what an agent suggests is never a command: it could make a person press `approve ab12` below another label
        command = self._commands.recognize(event) if said is event else None
        event = said
        if command is not None:
            return await self._execute_command(event, command, extra_statements)
        decision = self._router.decide(event)
        await self._acceptor.renew_if_idle(event, decision)
        observers = self._observers.plugins(event)
        try:
            prepared = await self._preparer.store_files(event)
        except ProviderFailed:
            result = await self._acceptor.find_accepted(event)
            if result is None:
                raise
            await self._acceptor.note_redelivery(result, extra_statements)
            return result  # its files were available at the first delivery
        return await self._acceptor.accept(prepared, decision, observers, extra_statements)

    async def find_accepted(self, event: EventEnvelope) -> IngestResult | None:
        """Returns the result for an event that was accepted before, or None if it is new."""
        await self.arrivals.require_key(event.conversation_key)
        return await self._acceptor.find_accepted(event)

    async def _execute_command(
        self, event: EventEnvelope, command: ParsedCommand, extra_statements: Sequence[Statement]
    ) -> IngestResult:
        observers, now = self._observers.plugins(event), self._clock.now()
        observer_statements = self._observers.statements(observers, Ref(0, "seq"), event.bot_id, now)
        receipt = await self._commands.execute(event, command, [*observer_statements, *extra_statements])
        result = IngestResult(
            event.event_id, receipt.seq, receipt.conversation_id, receipt.already_executed, handled=True
        )
        if receipt.already_executed:
            await self._acceptor.note_redelivery(result, extra_statements)
        self._observers.after_commit(observers)
        return result

"""Builds the request for a runner from the run's session and the stored state."""

from typing import Protocol

from parlour.core.delivery.composer import MessageComposer
from parlour.core.journal import Journal
from parlour.core.model.agent import Binding
from parlour.core.model.providers import Providers
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.models.days import Days
from parlour.core.store.history import HistoryReader
from parlour.core.store.state import StateStore

from . import bootstrap, context
from .session import RunSession, StateSnapshot


class PromptHooks(Protocol):
    """Lets plugins add to the prompt of a run before it starts."""

    def has_hooks(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether a plugin is asked for additions to the prompt of this run."""
        ...

    async def apply(self, session: RunSession, descriptor: RunnerDescriptor) -> Binding:
        """Returns the run's binding with the additions."""
        ...


class RunContextBuilder:
    """Builds requests for runners."""

    def __init__(
        self,
        journal: Journal,
        providers: Providers,
        history: HistoryReader,
        composer: MessageComposer,
        prompt_hooks: PromptHooks,
        days: Days,
        host_version: str,
    ) -> None:
        self._journal = journal
        self._state = StateStore(journal)
        self._providers = providers
        self._history = history
        self._composer = composer
        self._prompt_hooks = prompt_hooks
        self._days = days
        self._host_version = host_version

    async def state_snapshot(self, session: RunSession) -> StateSnapshot:
        """Reads the state values that the run may use."""
        return await self._state.snapshot(session.grant.scopes)

    def can_build_early(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether the request can be built before the start of the run is durable: its transcript item is
        numbered, and no plugin is called for it.
        """
        return bool(session.entry.transcript_seq) and not self._prompt_hooks.has_hooks(session, descriptor)

    async def build(
        self, session: RunSession, descriptor: RunnerDescriptor, state: StateSnapshot | None = None
    ) -> dict[str, object]:
        """Builds the request for the runner; without `state`, the current values are read."""
        entry, event = session.entry, session.event
        inputs = context.ContextInputs(
            run_id=session.run_id,
            attempt=entry.attempts,
            transcript_seq=entry.transcript_seq,
            deadline_at=session.deadline_at,
            state=await self.state_snapshot(session) if state is None else state,
            latest_cursor=self._history.cursor(event.conversation_id, entry.transcript_seq),
            delivery=self._composer.capabilities_for_runner(event, session.binding.agent.delivery_policy),
            inline_history=await bootstrap.select_inline_history(
                self._journal, descriptor.manifest.context, event, entry.transcript_seq
            ),
        )
        return context.build_request(
            event,
            await self._prompt_hooks.apply(session, descriptor),
            descriptor,
            session.grant,
            self._providers,
            inputs,
            self._host_version,
            self._days.time_zone,
        )

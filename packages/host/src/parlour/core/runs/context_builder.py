"""Builds the request for a runner from the run's session and the stored state.

History is inlined only if the runner asks for it, and never beyond the Host's own limits.
"""

from dataclasses import replace
from typing import Protocol

from parlour.core.delivery.composer import MessageComposer
from parlour.core.journal import Journal, Row, Select, below, other_than, where
from parlour.core.message_policy.effective import decode_policy
from parlour.core.message_policy.filters import TextFilters
from parlour.core.message_policy.inputs import filter_input, join_inputs, prepare_input
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.event import RecordedEvent
from parlour.core.model.providers import Providers
from parlour.core.model.runner import RunnerDescriptor
from parlour.core.models.days import Days
from parlour.core.store.history import HistoryReader
from parlour.core.store.state import StateStore
from parlour.core.store.tables import TRANSCRIPT
from parlour.core.texts.languages import Languages
from parlour_sdk.protocol.history import HEARD
from parlour_sdk.protocol.limits import BOOTSTRAP_BYTES, BOOTSTRAP_ITEMS
from parlour_sdk.protocol.manifest import ContextPolicy
from parlour_sdk.values import dataclass

from . import context
from .context import NO_HISTORY, InlineHistory
from .session import RunSession, StateSnapshot


class PromptHooks(Protocol):
    """Lets plugins add to the prompt of a run before it starts."""

    def has_hooks(self, session: RunSession, descriptor: RunnerDescriptor) -> bool:
        """Returns whether a plugin is asked for additions to the prompt of this run."""
        ...

    async def apply(self, session: RunSession, descriptor: RunnerDescriptor) -> Binding:
        """Returns the run's binding with the additions."""
        ...


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """The facts of the Host that a context names: its version, time zone and languages."""

    version: str
    days: Days
    languages: Languages


class RunContextBuilder:
    """Builds requests for runners."""

    def __init__(
        self,
        journal: Journal,
        providers: Providers,
        history: HistoryReader,
        composer: MessageComposer,
        prompt_hooks: PromptHooks,
        filters: TextFilters,
        host: ContextFacts,
    ) -> None:
        self._journal = journal
        self._state = StateStore(journal)
        self._providers = providers
        self._history = history
        self._composer = composer
        self._prompt_hooks = prompt_hooks
        self._filters = filters
        self._host = host

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
        entry, event = session.entry, self._readable_event(session)
        inputs = context.ContextInputs(
            run_id=session.run_id,
            attempt=entry.attempts,
            transcript_seq=entry.transcript_seq,
            deadline_at=session.deadline_at,
            state=await self.state_snapshot(session) if state is None else state,
            latest_cursor=self._history.cursor(event.conversation_id, entry.transcript_seq),
            delivery=self._composer.capabilities_for_runner(event, session.binding.agent.delivery_policy),
            variables=entry.variables,
            inline_history=await _select_inline_history(
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
            self._host.version,
            self._host.days.time_zone,
            self._host.languages.for_event(event.envelope),
        )

    def _readable_event(self, session: RunSession) -> RecordedEvent:
        """Returns the event as the agent reads it, with the messages that were collected for its run.

        A retry or a rerun comes without a turn, so the message policy is applied here.
        """
        entry = session.entry
        policy = decode_policy(session.binding.agent.message_policy)
        if policy is not None and entry.prepared is None and entry.event.envelope.event_type == MESSAGE_TYPE:
            filtered = filter_input(policy, entry.arrived, self._filters)
            entry.prepared = prepare_input(policy, entry.arrived, filtered)
        if policy is None or not entry.gathered:
            return entry.readable_event
        with_names = policy.gather.per == "chat" and not policy.context.sender_names
        others = [each.readable_event for each in entry.gathered]
        event = entry.readable_event
        return replace(event, envelope=join_inputs(event.envelope, others, with_names))


async def _select_inline_history(
    journal: Journal, policy: ContextPolicy, event: RecordedEvent, transcript_seq: int
) -> InlineHistory:
    """Selects the messages to inline. `transcript_seq` is the number of the event's own item; the tail is what came
    before.
    """
    match policy.bootstrap:
        case "none":
            return NO_HISTORY
        case "current_event":
            text = event.envelope.text
            inlined = {"mode": "current_event", "delivered_count": 1, "messages_complete": transcript_seq <= 1}
            return InlineHistory(inlined, {"messages": [{"role": "user", "content": text}]})
        case "recent_tail":
            return await _latest_messages(journal, policy, event, transcript_seq)


async def _latest_messages(
    journal: Journal, policy: ContextPolicy, event: RecordedEvent, transcript_seq: int
) -> InlineHistory:
    limit = min(policy.max_inline_events, BOOTSTRAP_ITEMS)
    query = Select(
        TRANSCRIPT,
        where(
            conversation_id=event.conversation_id,
            thread_id=event.envelope.thread_id,
            seq=below(transcript_seq),
            item_type=other_than(HEARD),
        ),
        ("role", "content", "seq"),
        order=("seq",),
        direction="descending",
        limit=limit,
    )
    rows = await journal.read(query) if limit else []
    fitting_rows = _fit_bytes(rows, min(policy.max_inline_bytes or BOOTSTRAP_BYTES, BOOTSTRAP_BYTES))
    earlier = max(transcript_seq - 1, 0)
    inlined = {
        "mode": "recent_tail",
        "delivered_count": len(fitting_rows),
        "source_total_count": earlier,
        "messages_complete": len(fitting_rows) == earlier,
        "reason": None if len(fitting_rows) == len(rows) else "the rest is over the size that may be inlined",
    }
    messages = [{"role": _role(row), "content": row["content"]} for row in reversed(fitting_rows)]
    return InlineHistory(inlined, {"messages": messages})


def _fit_bytes(rows: list[Row], size: int) -> list[Row]:
    """Returns the newest rows that fit. The first row that does not fit ends the selection, so that there is no gap."""
    fitting_rows: list[Row] = []
    for row in rows:
        size -= len(str(row["content"]).encode())
        if size < 0:
            break
        fitting_rows.append(row)
    return fitting_rows


def _role(row: Row) -> str:
    return str(row["role"]) if row["role"] in ("user", "assistant", "system", "tool") else "system"

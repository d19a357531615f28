"""The checks of a message policy before a message is answered: input filters, collecting, and limits.

What is counted and noted is part of the unit that opens the run, or that hands the message to one.
"""

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from parlour.core.journal import Statement
from parlour.core.message_policy.checks import asks_others
from parlour.core.message_policy.effective import decode_policy
from parlour.core.message_policy.filtered import FilteredMessage, filtered_input
from parlour.core.message_policy.filters import NO_VERDICTS, FilterHit, TextFilters, Verdicts
from parlour.core.message_policy.inputs import filter_input, prepare_input
from parlour.core.message_policy.limits import MessageLimits, UsedUpLimit
from parlour.core.message_policy.wake import MESSAGE_TYPE
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope
from parlour.core.model.ports import Clock
from parlour.core.store import event_notes
from parlour_sdk.values import dataclass

from .completion import POLICY_NOTICE
from .input_checks import InputChecks
from .message_hooks import NOT_HOOKED, HookRecord, MessageHooks
from .run_checks import RunObstacle
from .session import QueuedEvent

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import MessagePolicy


class AdmissionLost(Exception):
    """Raised if a limit was used up by another message while a run was being opened. Nothing was written."""


@dataclass(frozen=True, slots=True)
class MaskedInput:
    """A message as the agent reads it, and the filters that found something in it."""

    envelope: EventEnvelope
    hits: tuple[FilterHit, ...] = ()


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
    """The decision about a message: it is admitted, or an obstacle keeps it from being answered, or it waits."""

    obstacle: RunObstacle | None = None
    wait_until: int = 0
    statements: tuple[Statement, ...] = field(default=())
    """Statements that count the message, for the unit that admits it."""


@dataclass(frozen=True, slots=True)
class Consultation:
    """The answers of plugins and models about a message that are not recorded yet; None for what was not asked."""

    hooks: HookRecord | None = None
    verdicts: Verdicts | None = None


class RunAdmission:
    """Applies message policies to messages that are about to be answered."""

    def __init__(
        self, hooks: MessageHooks, checks: InputChecks, limits: MessageLimits, filters: TextFilters, clock: Clock
    ) -> None:
        self._hooks = hooks
        self._checks = checks
        self._limits = limits
        self._filters = filters
        self._clock = clock

    def must_ask(self, entry: QueuedEvent, binding: Binding) -> bool:
        """Returns whether plugins or models must be asked about a message before anything else is decided about it."""
        if entry.event.envelope.event_type != MESSAGE_TYPE:
            return False
        if entry.hooked is None and (entry.attempts or self._hooks.are_asked(binding, entry.event.envelope)):
            return True
        if entry.verdicts is not None or not binding.agent.message_policy:
            return False
        policy = self.policy(binding)
        is_stopped = entry.hooked is not None and bool(entry.hooked.stopped_by)
        return policy is not None and not is_stopped and asks_others(policy.filters.input)

    async def consult(self, entry: QueuedEvent, binding: Binding) -> bool:
        """Asks plugins and models about a message, unless they were asked before. Returns whether an agent may answer
        it.
        """
        if self.must_ask(entry, binding):
            await self.record(entry, binding, await self.ask(entry, binding))
        return entry.hooked is None or not entry.hooked.stopped_by

    async def ask(self, entry: QueuedEvent, binding: Binding) -> Consultation:
        """Asks plugins and models, or reads what they decided earlier. Returns the answers that are to be recorded."""
        record, policy = None, self.policy(binding) if binding.agent.message_policy else None
        if entry.hooked is None:
            entry.hooked = await self._hooks.recorded(entry.seq)
        if entry.hooked is None and self._hooks.are_asked(binding, entry.event.envelope):
            record = await self._hooks.ask(entry.event, binding)
        hooked = entry.hooked if record is None else record.message
        if policy is None or entry.verdicts is not None or not asks_others(policy.filters.input):
            return Consultation(record)
        entry.verdicts = await self._checks.recorded(entry.seq)
        if entry.verdicts is not None or (hooked is not None and hooked.stopped_by):
            return Consultation(record)
        envelope = entry.event.envelope if hooked is None else hooked.apply(entry.event.envelope)
        return Consultation(record, await self._checks.ask(entry.event, envelope, binding, policy))

    async def record(self, entry: QueuedEvent, binding: Binding, answers: Consultation) -> None:
        """Records the answers of `ask`."""
        if answers.hooks is not None:
            entry.hooked = await self._hooks.record(entry.event, answers.hooks)
        elif entry.hooked is None:
            entry.hooked = NOT_HOOKED
        policy = self.policy(binding) if answers.verdicts else None
        if policy is not None and answers.verdicts:
            await self._checks.record(entry.seq, policy, answers.verdicts)
            entry.host_calls = tuple(each.call for each in answers.verdicts.values() if each.call is not None)
        if entry.verdicts is None:
            entry.verdicts = answers.verdicts

    def policy(self, binding: Binding) -> "MessagePolicy | None":
        return decode_policy(binding.agent.message_policy)

    def filter(self, entry: QueuedEvent, policy: "MessagePolicy") -> RunObstacle | None:
        """Applies the input filters and sets what the agent reads. Returns the obstacle if a filter blocks it."""
        filtered = filter_input(policy, entry.arrived, self._filters, entry.verdicts or NO_VERDICTS)
        if filtered.stopped_by is not None:
            reason = f"message policy: input filter {filtered.stopped_by.rule} blocks it"
            tell = filtered.stopped_by.filter.tell  # type: ignore[union-attr]
            return RunObstacle("refused", reason, POLICY_NOTICE if tell else "", tell, filtered_input(filtered.hits))
        entry.prepared = prepare_input(policy, entry.arrived, filtered)
        entry.filter_hits = filtered.hits
        return None

    async def admit(
        self, entry: QueuedEvent, binding: Binding, policy: "MessagePolicy", followers: Sequence[QueuedEvent] = ()
    ) -> AdmissionDecision:
        """Decides about a message and those that are collected with it. Nothing is written."""
        obstacle = self.filter(entry, policy)
        if obstacle is not None:
            return AdmissionDecision(obstacle)
        counted = [each.event for each in (entry, *followers) if not each.was_admitted]
        found = await self._limits.count(policy, binding.limits_owner, counted) if policy.limits and counted else ()
        if not isinstance(found, UsedUpLimit):
            notes = tuple(note for each in (entry, *followers) for note in self._notes(each))
            return AdmissionDecision(statements=(*found, *notes))
        if found.limit.over == "wait":
            return AdmissionDecision(wait_until=found.available_at)
        tells = found.limit.over == "tell"
        code = "" if not tells else POLICY_NOTICE if found.limit.tell else "limited.policy"
        rule = f"limits.{policy.limits.index(found.limit)}"
        told = FilteredMessage("admit", "limited", (rule,), found.reason)
        return AdmissionDecision(RunObstacle("limited", found.reason, code, found.limit.tell, told))

    def _notes(self, entry: QueuedEvent) -> list[Statement]:
        """Returns the notes about filters that found something and let the message pass."""
        if not entry.has_new_hits:
            return []
        text = _hit_sentence(entry.filter_hits)
        data = {"text": text, "code": "policy_filtered_input", "rules": [hit.rule for hit in entry.filter_hits]}
        return [event_notes.add_note(entry.seq, "policy.input", data, self._clock.now())]


def _hit_sentence(hits: Sequence[FilterHit]) -> str:
    masked = [hit.rule for hit in hits if hit.filter.on == "mask"]
    flagged = [hit.rule for hit in hits if hit.filter.on == "flag"]
    if masked and flagged:
        return f"Input filter {', '.join(masked)} masked words; input filter {', '.join(flagged)} flagged it."
    if masked:
        return f"Input filter {', '.join(masked)} masked words."
    return f"Input filter {', '.join(flagged)} flagged it."

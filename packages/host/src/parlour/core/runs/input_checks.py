"""Asks models and plugins that filter a message, and records their verdicts, so that a retry does not ask again."""

from typing import TYPE_CHECKING

from parlour.core.encoding import loads
from parlour.core.journal import Journal, Select, UnitBuilder, where
from parlour.core.message_policy.checks import FilterChecks, FilterSubject, asks_others, verdict_notes, verdict_sentence
from parlour.core.message_policy.filters import NO_VERDICTS, FilterVerdict, Verdicts
from parlour.core.model.agent import Binding
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ports import Clock
from parlour.core.store import event_notes
from parlour.core.store.tables import TRAIL

if TYPE_CHECKING:
    from parlour.core.message_policy.schema import MessagePolicy

STEP = "policy.checks"
"""Step of the event's trail that records the verdicts."""


class InputChecks:
    """Collects and records the verdicts about messages."""

    def __init__(self, checks: FilterChecks, journal: Journal, clock: Clock) -> None:
        self._checks = checks
        self._journal = journal
        self._clock = clock

    async def recorded(self, event_seq: int) -> Verdicts | None:
        """Returns the verdicts that were recorded earlier; None if nothing was asked."""
        rows = await self._journal.read(Select(TRAIL, where(entry_id=f"{event_seq}:{STEP}"), limit=1))
        if not rows:
            return None
        stored = loads(rows[0]["data"])["verdicts"]
        return {int(position): FilterVerdict(**fields) for position, fields in stored.items()}

    async def ask(
        self, event: RecordedEvent, envelope: EventEnvelope, binding: Binding, policy: "MessagePolicy | None"
    ) -> Verdicts:
        """Returns the verdicts about a message as plugins have changed it. Nothing is written."""
        if policy is None or not asks_others(policy.filters.input):
            return NO_VERDICTS
        text, contents = envelope.input.get("text"), envelope.input.get("contents") or []
        subject = FilterSubject(event, binding, "input")
        return await self._checks.ask(policy.filters.input, text, contents, subject)

    async def record(self, event_seq: int, policy: "MessagePolicy", verdicts: Verdicts) -> None:
        """Records verdicts in a unit of its own, before anything follows from them."""
        stored = {
            str(position): {
                "is_found": each.is_found,
                "detail": each.detail,
                "is_failed": each.is_failed,
                "call": each.call,
            }
            for position, each in verdicts.items()
        }
        notes = verdict_notes(policy.filters.input, verdicts, "input")
        data = {
            "text": verdict_sentence(notes),
            "code": "policy_checked_input",
            "checks": notes,
            "verdicts": stored,
        }
        unit = UnitBuilder("filters.answer")
        unit.add(event_notes.add_note(event_seq, STEP, data, self._clock.now()))
        await self._journal.commit(unit.build())

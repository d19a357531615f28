"""Counts the messages that are answered, for the limits of a message policy.

The statements are part of the unit that opens a run or hands a message to one, so that a message counts exactly once,
and only if it is answered.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from parlour.core.journal import Journal, Statement
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import LimitPolicyId
from parlour.core.model.ports import Clock
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.store.limits import LimitCounters
from parlour_sdk.values import dataclass

if TYPE_CHECKING:
    from .schema import MessageLimit, MessagePolicy


@dataclass(frozen=True, slots=True)
class UsedUpLimit:
    """A limit that leaves no room for a message."""

    limit: "MessageLimit"
    available_at: int
    """Time at which the message would fit."""
    reason: str


class MessageLimits:
    """Builds the statements that count messages, and finds the limit that is used up."""

    def __init__(self, journal: Journal, time_zone: Callable[[], str], clock: Clock) -> None:
        self._counters = LimitCounters(journal)
        self._time_zone = time_zone
        self._clock = clock

    async def states(
        self, policy: "MessagePolicy", owner: LimitPolicyId, event: RecordedEvent
    ) -> "list[tuple[MessageLimit, int]]":
        """Returns each limit with the number of messages that are left for the sender of an event."""
        found: list[tuple[MessageLimit, int]] = []
        for limit in policy.limits:
            rate = rate_limit(limit, owner, self._time_zone())
            state = await self._counters.state(rate, _subject(limit, event), self._clock.now())
            found.append((limit, state.left))
        return found

    async def count(
        self, policy: "MessagePolicy", owner: LimitPolicyId, events: Sequence[RecordedEvent]
    ) -> "tuple[Statement, ...] | UsedUpLimit":
        """Returns the statements that count these messages, or the limit that they exceed."""
        statements: list[Statement] = []
        for limit in policy.limits:
            rate = rate_limit(limit, owner, self._time_zone())
            for subject, amount in Counter(_subject(limit, event) for event in events).items():
                state = await self._counters.state(rate, subject, self._clock.now(), amount)
                if state.left < amount:
                    return UsedUpLimit(limit, state.available_at, limit_sentence(limit))
                statements += await self._counters.take(rate, subject, state.now, amount)
        return tuple(statements)


def rate_limit(limit: "MessageLimit", owner: LimitPolicyId, time_zone: str) -> RateLimit:
    if limit.window == "day":
        return RateLimit(owner, "day", limit.count, time_zone=time_zone)
    return RateLimit(owner, limit.kind, limit.count, limit.seconds * 1000)


def limit_sentence(limit: "MessageLimit") -> str:
    """Returns the clause of the trail about a limit that is used up."""
    if limit.window == "day":
        return f"message policy: {limit.count} messages per {limit.per} and day were answered"
    return f"message policy: {limit.count} messages per {limit.per} in {limit.seconds} s were answered"


def _subject(limit: "MessageLimit", event: RecordedEvent) -> LimitSubject:
    """Returns what is counted. The counter of a chat outlives its conversations, so that `/new` does not reset it."""
    envelope = event.envelope
    match limit.per:
        case "sender":
            return LimitSubject(f"sender:{_sender(envelope)}")
        case "chat":
            place = f"{envelope.bot_id or envelope.source}/{envelope.principal}/{envelope.chat}"
            return LimitSubject(f"chat:{place}", event.conversation_id)
        case "bot":
            return LimitSubject(f"bot:{envelope.bot_id or envelope.source}")
        case "agent":
            return LimitSubject("agent:preview" if envelope.is_preview else "agent")


def _sender(envelope: EventEnvelope) -> str:
    """Returns the key of a sender. Ids belong to a platform, so the same id on another bot is another person."""
    person = f"{envelope.actor.type}:{envelope.actor.id}" if envelope.actor.id else envelope.principal
    return f"{envelope.bot_id}/{person}" if envelope.bot_id else person

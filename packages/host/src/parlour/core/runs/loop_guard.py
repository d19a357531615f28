"""Limits how many runs per minute start on platforms, so that two bots never keep answering each other.

In a group the limit per sender counts the messages of each sender alone, and those of all accounts that behave like
bots together; the group as a whole has a higher limit of its own. A user in a private chat may exceed the limit for a
while; a private chat that exceeds it for ten minutes is throttled. Requests with an API key and the web chat are not
limited here.
"""

from bisect import bisect_right
from collections import defaultdict
from dataclasses import field
from typing import Literal

from parlour.core.delivery.targets import PLATFORM
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import ConversationId
from parlour.core.model.ports import Clock
from parlour.core.routing.default_resolver import sent_by_bot
from parlour_sdk.values import dataclass

MINUTE_MILLISECONDS = 60_000
PRIVATE_GRACE_MILLISECONDS = 10 * MINUTE_MILLISECONDS
"""Milliseconds for which a private chat may exceed the limit continuously before it is throttled."""
THROTTLE_MILLISECONDS = 60 * MINUTE_MILLISECONDS
"""Milliseconds for which a private chat stays throttled after its last refusal, and an account counts as a bot."""
BOT_REFUSED_MINUTES = 3
"""Minutes of the last hour with a refusal, from which an account counts as a bot."""
MAX_CACHED_CONVERSATIONS = 1000
"""Conversations kept in memory before idle ones are evicted."""
MAX_CACHED_SENDERS = 500
"""Senders kept in memory per conversation before idle ones are evicted."""

ExceededLimit = Literal["", "sender", "bots", "group"]
"""The limit that is exceeded; empty if none is."""
_ALL = "all"
_BOTS = "bots"


@dataclass(slots=True)
class ConversationRate:
    """The runs of a conversation in the last minute, and the accounts that were refused in the last hour."""

    run_starts: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Start times of runs: of all together, of each sender, and of all accounts that behave like bots."""
    refusals: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Times of refusals by sender, at most one per minute."""
    over_limit_since: int = 0
    """Time from which every minute of a private chat exceeded the limit; 0 if the last one did not."""
    throttled_until: int = 0

    def recent(self, key: str, since: int) -> list[int]:
        if len(self.run_starts) > MAX_CACHED_SENDERS:
            active = {
                name: timestamps
                for name, timestamps in self.run_starts.items()
                if timestamps and timestamps[-1] > since
            }
            self.run_starts = defaultdict(list, active)
        timestamps = self.run_starts[key]
        del timestamps[: bisect_right(timestamps, since)]
        return timestamps

    def record_refusal(self, sender: str, now: int) -> None:
        if len(self.refusals) > MAX_CACHED_SENDERS:
            self.refusals.clear()
        timestamps = self.refusals[sender]
        del timestamps[: bisect_right(timestamps, now - THROTTLE_MILLISECONDS)]
        if not timestamps or now - timestamps[-1] >= MINUTE_MILLISECONDS:
            timestamps.append(now)

    def behaves_like_bot(self, sender: str, now: int) -> bool:
        timestamps = self.refusals.get(sender, [])
        return len(timestamps) >= BOT_REFUSED_MINUTES and now - timestamps[-1] < THROTTLE_MILLISECONDS

    def is_active(self, since: int) -> bool:
        """Returns whether the entry is still needed. `since` is the time one minute ago."""
        recently_refused = any(
            timestamps[-1] > since - THROTTLE_MILLISECONDS for timestamps in self.refusals.values() if timestamps
        )
        return (
            recently_refused
            or self.throttled_until > since
            or any(timestamps[-1] > since for timestamps in self.run_starts.values() if timestamps)
        )


class LoopGuard:
    """Counts the runs of conversations and senders and rejects those beyond the limits."""

    def __init__(self, per_sender: int, per_group: int, clock: Clock) -> None:
        """A limit of 0 means that there is none."""
        self._per_sender = per_sender
        self._per_group = per_group
        self._clock = clock
        self._rates: dict[ConversationId, ConversationRate] = {}
        self._eviction_threshold = MAX_CACHED_CONVERSATIONS

    def set_limits(self, per_sender: int, per_group: int) -> None:
        """Changes the limits from now on."""
        self._per_sender = per_sender
        self._per_group = per_group

    def try_acquire(self, event: RecordedEvent) -> ExceededLimit:
        """Counts one more run, or returns the limit that keeps it from starting."""
        exceeded = self.exceeded_limit(event)
        if not exceeded:
            self.record(event)
        return exceeded

    def exceeded_limit(self, event: RecordedEvent) -> ExceededLimit:
        """Returns the limit that one more run would exceed, and records the refusal."""
        envelope = event.envelope
        if not self._limits(envelope):
            return ""
        rate, now = self._rate_of(event), self._clock.now()
        if _is_private(envelope):
            return self._private_limited(rate, now)
        key = self._counter_key(rate, envelope, now)
        if self._per_sender and len(rate.recent(key, now - MINUTE_MILLISECONDS)) >= self._per_sender:
            rate.record_refusal(_sender(envelope), now)
            return "bots" if key == _BOTS else "sender"
        group_exceeded = self._per_group and len(rate.recent(_ALL, now - MINUTE_MILLISECONDS)) >= self._per_group
        return "group" if group_exceeded else ""

    def record(self, event: RecordedEvent) -> None:
        envelope = event.envelope
        if not self._limits(envelope):
            return
        rate, now = self._rate_of(event), self._clock.now()
        limits = {_ALL: self._per_sender if _is_private(envelope) else self._per_group}
        if not _is_private(envelope):
            limits[self._counter_key(rate, envelope, now)] = self._per_sender
        for key, limit in limits.items():
            timestamps = rate.recent(key, now - MINUTE_MILLISECONDS)
            timestamps.append(now)
            del timestamps[: -max(1, limit)]

    def _limits(self, envelope: EventEnvelope) -> bool:
        limits = self._per_sender if _is_private(envelope) else self._per_sender or self._per_group
        return bool(limits) and envelope.surface == PLATFORM and not envelope.principal

    def _private_limited(self, rate: ConversationRate, now: int) -> ExceededLimit:
        if len(rate.recent(_ALL, now - MINUTE_MILLISECONDS)) < self._per_sender:
            rate.over_limit_since = 0
            return ""
        rate.over_limit_since = rate.over_limit_since or now
        if now >= rate.throttled_until and now < rate.over_limit_since + PRIVATE_GRACE_MILLISECONDS:
            return ""
        rate.throttled_until = now + THROTTLE_MILLISECONDS
        return "sender"

    @staticmethod
    def _counter_key(rate: ConversationRate, envelope: EventEnvelope, now: int) -> str:
        sender = _sender(envelope)
        return _BOTS if sent_by_bot(envelope) or rate.behaves_like_bot(sender, now) else sender

    def _rate_of(self, event: RecordedEvent) -> ConversationRate:
        rate = self._rates.get(event.conversation_id)
        if rate is None:
            self._evict_idle(self._clock.now() - MINUTE_MILLISECONDS)
            rate = self._rates[event.conversation_id] = ConversationRate()
        return rate

    def _evict_idle(self, since: int) -> None:
        """Evicts idle conversations once their number has grown well beyond what was kept last time."""
        if len(self._rates) >= self._eviction_threshold:
            active = {name: rate for name, rate in self._rates.items() if rate.is_active(since)}
            self._rates, self._eviction_threshold = active, MAX_CACHED_CONVERSATIONS + 2 * len(active)


def _is_private(envelope: EventEnvelope) -> bool:
    return envelope.data.get("chat_type") == "private"


def _sender(envelope: EventEnvelope) -> str:
    return f"{envelope.actor.type}:{envelope.actor.id}"

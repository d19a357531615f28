"""Decides how a reply is sent if its platform limits the replies to an event.

The number of replies is counted by a guarded statement in the unit that marks the outbox row as `sending`. An uncertain
reply stays counted, and it is never sent as a message of the bot's own.
"""

from dataclasses import replace
from typing import Literal

from parlour.core.journal import GuardFailed, Journal, Statement, Unit
from parlour.core.model.ids import BotId
from parlour.core.model.ports import Clock
from parlour.core.model.reply_allowance import ReplyUse
from parlour.core.store import reply_allowances
from parlour.core.store.reply_allowances import ReplyAllowanceStore, StoredAllowance
from parlour_sdk.values import dataclass

MAX_CONCURRENT_USES = 20
"""Attempts to count a reply while other replies use the same allowance."""


@dataclass(frozen=True, slots=True)
class ReplyDecision:
    """A decision on how a reply is sent, with the statements that count it."""

    kind: Literal["reply", "push", "hold", "refuse"]
    use: ReplyUse
    statements: tuple[Statement, ...] = ()
    reason: str = ""
    """Reason for which the platform accepts no reply to the event."""


class ReplyPolicy:
    """Applies the allowances of events to the replies to them."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        self._journal = journal
        self._allowances = ReplyAllowanceStore(journal)
        self._clock = clock

    async def decide(self, bot_id: BotId, chat: str, use: ReplyUse) -> ReplyDecision:
        """Decides about a reply that is about to be sent. A reply that was counted before keeps its number while its
        time lasts.
        """
        now = self._clock.now()
        if use.pushed or (use.number and not use.is_late(now)):
            return ReplyDecision("push" if use.pushed else "reply", use)
        own = await self._allowances.get(bot_id, use.event_id)
        if own is None:
            reason = "the replies that were allowed to its event are not known any more"
            return ReplyDecision("refuse", use.without_number(), reason=reason)
        for allowance in await self._usable(bot_id, chat, own):
            if allowance.has_room(now):
                counted = replace(allowance.next_use(), uncertain=use.uncertain)
                return ReplyDecision("reply", counted, (reply_allowances.use(allowance),))
        exceeding = replace(use.without_number(), pushed=own.then == "push")
        return ReplyDecision(own.then, exceeding, reason=_explain(own, now))

    async def use_now(self, bot_id: BotId, chat: str, use: ReplyUse) -> ReplyDecision:
        """Decides about a reply that is sent outside the outbox, and counts it in a unit of its own."""
        for _ in range(MAX_CONCURRENT_USES):
            decision = await self.decide(bot_id, chat, use)
            try:
                if decision.statements:
                    await self._journal.commit(Unit("reply.use", decision.statements))
                return decision
            except GuardFailed:
                continue
        return ReplyDecision("refuse", use, reason="too many replies to the same event are being sent")

    async def _usable(self, bot_id: BotId, chat: str, own: StoredAllowance) -> list[StoredAllowance]:
        """Returns the allowances that may cover the reply, the preferred one first."""
        if own.scope == "event" and own.then != "hold":
            return [own]
        newest = await self._allowances.newest_in_chat(bot_id, chat) or own
        return [newest] if own.scope == "chat" else [own, newest]


def _explain(allowance: StoredAllowance, now: int) -> str:
    is_late = 0 < allowance.until <= now
    detail = "the time for replies is over" if is_late else f"all {allowance.allowed} replies were used"
    return f"{allowance.reason} ({detail})" if allowance.reason else f"the platform accepts no more replies: {detail}"

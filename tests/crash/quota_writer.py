"""Takes uses of a rate limit and of a reply allowance until none is left; several such processes share a database.

`python -m tests.crash.quota_writer ADDRESS NAME KIND`
"""

import asyncio
import sys
from pathlib import Path

from parlour.core.delivery.reply_policy import ReplyPolicy
from parlour.core.journal import GuardFailed, Insert, Journal, Statement, Unit
from parlour.core.model.ids import BotId, EventId
from parlour.core.model.rate_limit import LimitSubject, RateLimit
from parlour.core.model.reply_allowance import ReplyUse
from parlour.core.store.limits import LimitCounters
from parlour.core.store.tables import META
from parlour.stores.postgres import PostgresJournal
from parlour.stores.sqlite import SqliteJournal

NOW = 1_790_000_000_000
ALLOWED = 150
"""Uses that are allowed to all writers together, of each of the two."""
BOT, EVENT, CHAT = BotId("bot"), EventId("event"), "chat"
SUBJECT = LimitSubject("ann")


class FixedClock:
    def now(self) -> int:
        return NOW


class QuotaWriter:
    """Commits each use in one unit with an effect: a row whose name is unique."""

    def __init__(self, journal: Journal, name: str, kind: str) -> None:
        self._journal = journal
        self._name = name
        self._limit = RateLimit("policy", kind, ALLOWED)  # type: ignore[arg-type]
        self._counters = LimitCounters(journal)
        self._policy = ReplyPolicy(journal, FixedClock())
        self._effects = 0

    async def run(self) -> None:
        """Takes uses of both in turn until both are used up."""
        left = [self.take_limit, self.take_reply]
        while left:
            left = [take for take in left if await take()]
            sys.stdout.write("taken\n")
            sys.stdout.flush()

    async def take_limit(self) -> bool:
        now = NOW
        while True:
            try:
                await self._commit("use", *await self._counters.take(self._limit, SUBJECT, now))
                return True
            except GuardFailed:
                state = await self._counters.state(self._limit, SUBJECT, now)
                if not state.left:
                    return False
                now = state.now

    async def take_reply(self) -> bool:
        while True:
            decision = await self._policy.decide(BOT, CHAT, ReplyUse(EVENT))
            if decision.kind != "reply":
                return False
            try:
                await self._commit(f"reply {decision.use.number}", *decision.statements)
                return True
            except GuardFailed:
                continue  # another writer has counted a reply since

    async def _commit(self, effect: str, *statements: Statement) -> None:
        self._effects += 1
        name = f"{effect} of {self._name} {self._effects}"
        await self._journal.commit(Unit("test.take", (Insert(META, {"name": name, "value": ""}), *statements)))


async def main(address: str, name: str, kind: str) -> None:
    journal = PostgresJournal(address) if address.startswith("postgres") else SqliteJournal(Path(address))
    async with journal:
        await QuotaWriter(journal, name, kind).run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

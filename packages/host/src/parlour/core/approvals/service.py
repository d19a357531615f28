"""Tracks pending approvals: each is asked once, decided once and executed once, across restarts and deleted runs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal

from parlour.core.access import audit
from parlour.core.delivery.action_rows import Executor
from parlour.core.delivery.composer import Delivery
from parlour.core.delivery.outbox import ENDED, Outbox, Outcome
from parlour.core.delivery.targets import PLATFORM
from parlour.core.errors import Refused
from parlour.core.journal import Draft, GuardFailed, Journal, StorageFailed, Unit
from parlour.core.model.event import RecordedEvent
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock, Sent
from parlour.core.runs.session import Entry
from parlour.core.store import approvals as rows
from parlour.core.store import outbox_rows
from parlour.core.store.approvals import Approval, ApprovalRows, Status
from parlour.core.store.event_log import EventLog
from parlour.core.store.outbox_rows import OutgoingRows
from parlour.core.texts.catalogue import DEFAULT_LANGUAGE, text
from parlour.core.texts.languages import Languages

from .deciders import Decider, check
from .decision_events import DecidedEvents
from .decision_run_events import DecidedRunEvents
from .prompts import prompt
from .texts import concluded
from .texts import verdict as verdict_in_words

logger = logging.getLogger(__name__)

Verdict = Literal["approve", "deny"]
REMEMBERED_MILLISECONDS = 24 * 3600 * 1000
"""Milliseconds for which a keyword is remembered after its approval was created."""
KEYWORDS = 1000
"""Number of remembered keywords from which on older ones are removed."""
RETRY_SECONDS = 5.0
"""Seconds before a failed write is retried."""
TRIES = 3
"""Attempts to write a decision while the ledger of its run changes."""
DECISION = 0
"""Index of the statement that decides. If another guard fails, the run has changed, and the unit can be built again."""


class Decided:
    """A decided approval, with the outcome of its action if it is executed."""

    def __init__(self, closed: Approval, ended: "asyncio.Future[Outcome] | None") -> None:
        self.closed = closed
        self.ended = ended


class Approvals:
    """Tracks approvals, decides them, and expires them in time."""

    def __init__(
        self,
        journal: Journal,
        delivery: Delivery,
        outbox: Outbox,
        executor: Executor,
        events: DecidedEvents,
        run_events: DecidedRunEvents,
        languages: Languages,
        clock: Clock,
    ) -> None:
        self._languages = languages
        self._journal = journal
        self._rows = ApprovalRows(journal)
        self._outgoing = OutgoingRows(journal)
        self._log = EventLog(journal)
        self._delivery = delivery
        self._outbox = outbox
        self._executor = executor
        self._events = events
        self._run_events = run_events
        self._clock = clock
        self._offer: Callable[[Entry], None] = lambda entry: None
        self._by_keyword: dict[str, Approval] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._waiting: dict[str, list[asyncio.Future[Decided]]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def take_up(self, offer: Callable[[Entry], None]) -> None:
        """Recovers pending approvals after a restart. `offer` puts an event into the queue of its conversation."""
        self._offer = offer
        for known in await self._rows.since(self._clock.now() - REMEMBERED_MILLISECONDS):
            self._by_keyword[known.keyword] = known
            if known.status == "approved" and not known.outcome:
                await self._take_up_outcome(known)
        for pending in await self._rows.pending():
            self.remember(pending)

    async def _take_up_outcome(self, approved: Approval) -> None:
        """Records the outcome of an executed action, if the Host stopped before it was written."""
        row = await self._outgoing.get(approved.outbox_id)
        if row is None:
            return
        ended = self._outbox.watch(row.outbox_id)
        if row.state in ENDED:
            self._outbox.unwatch(row.outbox_id)
            ended.set_result(Outcome(row.state, row.reason, Sent(row.message_id)))
        self._in_background(self._account_for(approved.approval_id, ended))

    async def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def by_keyword(self, keyword: str) -> Approval | None:
        return self._by_keyword.get(keyword)

    def remember(self, pending: Approval) -> None:
        """Waits for a decision on a committed approval until it expires.

        If the clock was set back, the approval would expire too late: it never waits longer than its whole duration.
        """
        self._forget_old()
        self._by_keyword[pending.keyword] = pending
        left = min(pending.expires_at - self._clock.now(), pending.expires_at - pending.created_at)
        seconds = max(0, left) / 1000
        loop = asyncio.get_running_loop()
        self._timers[pending.approval_id] = loop.call_later(seconds, self._expire, pending.approval_id)

    def _forget_old(self) -> None:
        if len(self._by_keyword) >= KEYWORDS:
            oldest = self._clock.now() - REMEMBERED_MILLISECONDS
            kept = {word: each for word, each in self._by_keyword.items() if each.created_at > oldest}
            self._by_keyword = kept

    async def wait(self, approval_id: str, seconds: float) -> Decided | None:
        """Waits for a decision. Returns None if there is none within this time."""
        future: asyncio.Future[Decided] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(approval_id, [])
        waiting.append(future)
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            return None
        finally:
            waiting.remove(future)
            if not waiting:
                self._waiting.pop(approval_id, None)

    async def decide(
        self,
        approval_id: str,
        verdict: Verdict,
        decider: Decider,
        reason: str = "",
        tell: bool = True,
        conversation_id: str = "",
        language: str = DEFAULT_LANGUAGE,
    ) -> Approval:
        """Decides an approval. Raises Refused if there is none, it is already decided, or this person may not decide.

        The decision is posted in the chat where it was asked, unless the caller switches that off: a decider in that
        chat gets a reply anyway. With a conversation id, only approvals of that conversation are found.
        """
        async with self._turn(approval_id):
            known = await self._rows.get(approval_id)
            if known is None or conversation_id not in ("", known.conversation_id):
                raise Refused("not_found", f"there is no approval '{approval_id[:64]}'")
            check(known, decider, self._clock.now(), language)
            status: Status = "approved" if verdict == "approve" else "denied"
            closed = replace(known, status=status, decided_by=decider.name, reason=reason[:1000])
            try:
                return await self._close(closed, decider, tell)
            except GuardFailed as failure:
                if (meanwhile := await self._rows.get(approval_id)) is not None:
                    check(meanwhile, decider, self._clock.now(), language)
                told = text("approval.changed", language, keyword=known.keyword)
                raise Refused("conflict", told) from failure

    @asynccontextmanager
    async def _turn(self, approval_id: str) -> AsyncIterator[None]:
        """Serializes decisions on one approval. The database guarantees that there is only one."""
        try:
            async with self._turns.setdefault(approval_id, asyncio.Lock()):
                yield
        finally:
            self._turns.pop(approval_id, None)

    async def _close(self, closed: Approval, decider: Decider | None, tell: bool) -> Approval:
        """Stores a decision. Retries if the run that requested it is deleted, or its ledger continues, at the same
        moment.
        """
        tries = 1
        while True:
            try:
                async with self._run_events.turn(closed):
                    return await self._write(closed, decider, tell)
            except GuardFailed as failure:
                if failure.statement == DECISION or tries == TRIES:
                    raise
                tries += 1

    async def _write(self, closed: Approval, decider: Decider | None, tell: bool) -> Approval:
        """Commits one unit: the decision with its decider, the rows that execute it, and the events that report it."""
        now = self._clock.now()
        event = await self._log.by_seq(closed.event_seq)
        of_run = await self._run_events.draft(closed, now)
        acts = self._acts(closed)
        closed = replace(closed, decided_at=now, outbox_id=acts[-1].outbox_id if acts else "")
        said = self._said(event, closed, decider, tell) if event is not None else []
        draft = Draft("approval.decide")
        draft.add(
            rows.decide(closed), _audited(closed, now), *(outbox_rows.put(row) for row in [*acts, *said]), *of_run
        )
        owed = self._events.draft(draft, event, closed, decider, now) if event is not None else None
        ended = self._outbox.watch(closed.outbox_id) if acts else None
        try:
            receipt = await self._journal.commit(draft.unit())
        except (GuardFailed, StorageFailed) as failure:
            self._outbox.unwatch(closed.outbox_id)
            self._delivery.abandoned([*acts, *said], failure)
            raise
        self._delivery.committed([*acts, *said])
        self._decided(closed, ended)
        self._events.durable()
        if owed is not None:
            self._offer(owed.entry(receipt, now))
        return closed

    def _said(self, event: RecordedEvent, closed: Approval, decider: Decider | None, tell: bool) -> list[Outgoing]:
        language = self._languages.of(event.envelope)
        if self.replaces(closed):
            by = decider.shown if decider is not None else ""
            return [prompt(self._delivery, event, closed, concluded(closed, by, language), closed.asked_by)]
        return [prompt(self._delivery, event, closed, verdict_in_words(closed, language))] if tell else []

    def replaces(self, about: Approval) -> bool:
        """Returns whether the prompt message is edited into the outcome."""
        on_platform = about.chat["surface"] == PLATFORM and bool(about.asked_by)
        return on_platform and self._delivery.replaces(about.chat["bot_id"])

    async def asked_under(self, approval_id: str) -> str:
        """Returns the platform's id of the prompt message; empty if it is unknown or there may be two messages."""
        about = await self._rows.get(approval_id)
        row = await self._outgoing.get(about.asked_by) if about is not None and about.asked_by else None
        return row.message_id if row is not None and not row.possibly_repeated else ""

    def _acts(self, closed: Approval) -> list[Outgoing]:
        if closed.status != "approved":
            return []
        return self._executor.rows(closed.call, closed.conversation_id, closed.run_id)

    def _decided(self, closed: Approval, ended: "asyncio.Future[Outcome] | None") -> None:
        timer = self._timers.pop(closed.approval_id, None)
        if timer is not None:
            timer.cancel()
        self._by_keyword[closed.keyword] = closed
        if ended is not None:
            self._in_background(self._account_for(closed.approval_id, ended))
        for future in self._waiting.get(closed.approval_id, ()):
            if not future.done():
                future.set_result(Decided(closed, ended))

    async def _account_for(self, approval_id: str, ended: "asyncio.Future[Outcome]") -> None:
        outcome = await asyncio.shield(ended)
        told = {"state": outcome.state, "reason": outcome.reason, "result": outcome.sent.result}
        while True:
            try:
                await self._journal.commit(Unit("approval.outcome", (rows.carried_out(approval_id, told),)))
                return
            except StorageFailed as failure:
                logger.error("the outcome of approval %s waits for the database: %s", approval_id, failure.message)
                await asyncio.sleep(RETRY_SECONDS)

    def _expire(self, approval_id: str) -> None:
        self._timers.pop(approval_id, None)
        self._in_background(self._expired(approval_id))

    async def _expired(self, approval_id: str) -> None:
        async with self._turn(approval_id):
            try:
                known = await self._rows.get(approval_id)
                if known is not None and known.status == "pending":
                    late = replace(known, status="expired", reason="nobody decided in time")
                    await self._close(late, None, tell=True)
            except (StorageFailed, GuardFailed) as failure:  # also if a change of its run's ledger prevented the write
                logger.error("approval %s could not be expired yet: %s", approval_id, failure)
                loop = asyncio.get_running_loop()
                self._timers[approval_id] = loop.call_later(RETRY_SECONDS, self._expire, approval_id)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("the outcome of an approval could not be written: %s", error)


def _audited(closed: Approval, now: int) -> Any:
    after = {"status": closed.status, "action": closed.action, "run_id": closed.run_id, "reason": closed.reason}
    actor = closed.decided_by or "host"
    return audit.admin(actor, "approval.decide", closed.approval_id, {"status": "pending"}, after, now)

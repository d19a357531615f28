"""Tracks pending approvals: their keywords, their expiry, and the runs that wait for a decision."""

import asyncio
from collections import deque
from collections.abc import Callable

from parlour.core.delivery.row_states import SendOutcome
from parlour.core.model.ids import ApprovalId
from parlour.core.model.ports import Clock
from parlour.core.store.approvals import Approval

KEYWORD_RETENTION_MILLISECONDS = 24 * 3600 * 1000
"""Milliseconds for which a keyword is remembered after its approval was created."""
MAX_CACHED_KEYWORDS = 1000
"""Number of remembered keywords from which on older ones are removed."""


class ApprovalDecision:
    """A decided approval, with the outcome of its action if it is executed."""

    def __init__(self, closed: Approval, ended: "asyncio.Future[SendOutcome] | None") -> None:
        self.approval = closed
        self.outcome = ended


class PendingApprovals:
    """Holds the approvals that wait for a decision, and remembers recent ones by their keywords.

    Runs add approvals and wait here. `ApprovalService`, which is built after runs, decides and expires them.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_keyword: dict[str, Approval] = {}
        self._timers: dict[ApprovalId, asyncio.TimerHandle] = {}
        self._waiting: dict[ApprovalId, list[asyncio.Future[ApprovalDecision]]] = {}
        self._expired: deque[ApprovalId] = deque()
        self._next_expired: asyncio.Future[ApprovalId] | None = None

    def by_keyword(self, keyword: str) -> Approval | None:
        return self._by_keyword.get(keyword)

    def remember(self, approval: Approval) -> None:
        """Makes an approval known by its keyword, in its current state."""
        self._by_keyword[approval.keyword] = approval

    def track(self, pending: Approval) -> None:
        """Waits for a decision on a committed approval until it expires.

        If the clock was set back, the approval would expire too late: it never waits longer than its whole duration.
        """
        self._forget_old()
        self.remember(pending)
        left = min(pending.expires_at - self._clock.now(), pending.expires_at - pending.created_at)
        self.expire_in(pending.approval_id, max(0, left) / 1000)

    def expire_in(self, approval_id: ApprovalId, seconds: float) -> None:
        """Lets an approval expire after this time, unless it is decided before."""
        self._timers[approval_id] = asyncio.get_running_loop().call_later(seconds, self._expire, approval_id)

    def is_awaited(self, approval_id: ApprovalId) -> bool:
        """Returns whether a run waits for the decision."""
        return bool(self._waiting.get(approval_id))

    def withdraw(self, approval_id: ApprovalId) -> None:
        """Lets an approval expire now, because no run waits for its decision; does nothing if it is decided."""
        timer = self._timers.pop(approval_id, None)
        if timer is not None:
            timer.cancel()
            self.expire_in(approval_id, 0)

    def next_expired(self) -> "asyncio.Future[ApprovalId]":
        """Returns a future of the id of the next approval that expires."""
        future: asyncio.Future[ApprovalId] = asyncio.get_running_loop().create_future()
        if self._expired:
            future.set_result(self._expired.popleft())
        else:
            self._next_expired = future
        return future

    async def wait(self, approval_id: ApprovalId, seconds: float) -> ApprovalDecision | None:
        """Waits for a decision. Returns None if there is none within this time."""
        future: asyncio.Future[ApprovalDecision] = asyncio.get_running_loop().create_future()
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

    def resolve(self, decision: ApprovalDecision) -> None:
        """Ends the wait for a decided approval."""
        closed = decision.approval
        timer = self._timers.pop(closed.approval_id, None)
        if timer is not None:
            timer.cancel()
        self.remember(closed)
        for future in self._waiting.get(closed.approval_id, ()):
            if not future.done():
                future.set_result(decision)

    def forget(self, is_forgotten: Callable[[Approval], bool]) -> None:
        """Forgets approvals that another Host owns from now on."""
        for approval in [each for each in self._by_keyword.values() if is_forgotten(each)]:
            del self._by_keyword[approval.keyword]
            timer = self._timers.pop(approval.approval_id, None)
            if timer is not None:
                timer.cancel()

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()

    def _expire(self, approval_id: ApprovalId) -> None:
        self._timers.pop(approval_id, None)
        future, self._next_expired = self._next_expired, None
        if future is not None:
            future.set_result(approval_id)
        else:
            self._expired.append(approval_id)

    def _forget_old(self) -> None:
        if len(self._by_keyword) >= MAX_CACHED_KEYWORDS:
            oldest = self._clock.now() - KEYWORD_RETENTION_MILLISECONDS
            recent = [approval for approval in self._by_keyword.values() if approval.created_at > oldest]
            self._by_keyword = {approval.keyword: approval for approval in recent}

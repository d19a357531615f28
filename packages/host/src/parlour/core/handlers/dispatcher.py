"""Decides what happens to a queued event at its turn: wait, expire, quarantine, drop, reject, pass to another handler,
or run.
"""

import logging

from parlour.core.delivery import notices
from parlour.core.delivery.composer import Delivery
from parlour.core.journal import Draft, Journal
from parlour.core.model.agent import Binding
from parlour.core.model.outbox_row import Outgoing
from parlour.core.model.ports import Clock
from parlour.core.platforms.names import NameDirectory
from parlour.core.routing.router import Bound, Dropped, Hooked, Listened, Misconfigured, Router
from parlour.core.runs import retry_policy
from parlour.core.runs.completion import Endings
from parlour.core.runs.executor import Orchestrator
from parlour.core.runs.loop_guard import Limited, LoopCap
from parlour.core.runs.outcomes import Outcomes
from parlour.core.runs.queue_result import Expecting, Turn
from parlour.core.runs.runner_registry import Registry
from parlour.core.runs.session import Entry

from .handlers import Handing

logger = logging.getLogger(__name__)

LIMITED = {
    "sender": "its sender has had the runs of this minute (runs.per_sender_per_minute)",
    "bots": "accounts that behave like bots have had their runs of this minute (runs.per_sender_per_minute)",
    "group": "the group has had its runs of this minute (runs.per_conversation_per_minute)",
}
"""Reasons of the outcome `limited`, by the limit that is exceeded."""
EXHAUSTED = {"agent": "it failed its run too often", "host": "the Host stopped each time that it was tried"}
"""Reasons of the outcome `quarantined`, by the part that failed."""


class Dispatcher:
    """Passes each queued event to the handler that the router chooses."""

    def __init__(
        self,
        router: Router,
        registry: Registry,
        orchestrator: Orchestrator,
        handing: Handing,
        cap: LoopCap,
        endings: Endings,
        delivery: Delivery,
        outcomes: Outcomes,
        names: NameDirectory,
        journal: Journal,
        clock: Clock,
    ) -> None:
        self._names = names
        self._router = router
        self._registry = registry
        self._orchestrator = orchestrator
        self._handing = handing
        self._cap = cap
        self._endings = endings
        self._delivery = delivery
        self._outcomes = outcomes
        self._journal = journal
        self._clock = clock

    async def handle(self, entry: Entry) -> Turn:
        if entry.opened is not None:
            return await self._orchestrator.carry_on(entry, entry.opened)
        match self._router.decide(entry.event.envelope):
            case Dropped(reason):
                await self._settle(entry, "dropped", reason)
            case Hooked() as hooked:
                await self._handing.to_webhook(entry, hooked)
            case Listened() as listened:
                await self._listen(entry, listened)
            case Misconfigured(reason):
                logger.warning("event %s: %s", entry.event.envelope.event_id, reason)
                await self._settle(entry, "misconfigured", reason, "misconfigured")
            case Bound(binding):
                if self._registry.expects(binding.agent.runner_id):
                    return Turn(parked=Expecting(entry, binding.agent.runner_id, self._registry))
                if entry.run_id:
                    return await self._run(entry, binding)
                if fault := retry_policy.exhausted(entry.tries):
                    await self._settle(entry, "quarantined", EXHAUSTED[fault], notices.quarantined(fault))
                elif entry.event.stale(binding.agent.stale_after, self._clock.now()):
                    await self._settle(entry, "expired", "it is older than the agent's stale_after", "expired")
                elif limited := self._limited(entry):
                    await self._settle(entry, "limited", LIMITED[limited], f"limited.{limited}")
                else:
                    return await self._run(entry, binding)
        return Turn()

    async def _run(self, entry: Entry, binding: Binding) -> Turn:
        entry.event = await self._names.named(entry.event)
        return await self._orchestrator.run(entry, binding)

    async def give_up(self, entry: Entry) -> None:
        """Quarantines an event whose handling repeatedly failed in the Host itself, with any kind of handler."""
        await self._settle(entry, "quarantined", "the Host failed at it too often; the log says where", "quarantined")

    async def _listen(self, entry: Entry, listened: Listened) -> None:
        if not self._handing.anybody(entry, listened):
            await self._settle(entry, "dropped", listened.unheard)
        elif fault := retry_policy.exhausted(entry.tries):
            await self._settle(entry, "quarantined", EXHAUSTED[fault])
        else:
            await self._handing.to_listeners(entry, listened)

    def _limited(self, entry: Entry) -> Limited:
        """Counts a new run and returns the limit that it exceeds, if any. A retry after a failure is not a new run."""
        return "" if entry.attempts else self._cap.admit(entry.event)

    async def _settle(self, entry: Entry, outcome: str, reason: str, notice: str = "") -> None:
        """Completes an event without a run. The sender of an expired event gets a notice only on the Host's own
        surfaces, not on a platform.
        """
        draft = Draft("event.settle")
        self._endings.call_off(draft, entry, outcome, reason)
        settled = self._endings.settle(draft, entry.event, outcome, reason, entry.run_id or entry.parent_run_id)
        rows: list[Outgoing] = []
        if notice and (notice != "expired" or entry.event.envelope.principal):
            rows += self._endings.refuse(draft, entry, notice)
        await self._delivery.deliver(self._journal, draft.unit(), rows)
        self._outcomes.settled([settled])

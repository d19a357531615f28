"""Computes the grants of runs: for the sender of an event, or frozen and cut for runs that plugins create."""

from parlour.core.access import grants
from parlour.core.access.grant_intersection import intersect_grants
from parlour.core.access.grants import Grant
from parlour.core.journal import Journal, Row
from parlour.core.model.event import EventEnvelope, RecordedEvent
from parlour.core.model.ids import NO_RUN
from parlour.core.model.providers import Providers
from parlour.core.store.ledger import Ledger

from .caller import ActionCaller
from .run_checks import RunTarget
from .session import QueuedEvent


class RunGrants:
    """Computes what a run may use, before it starts."""

    def __init__(self, journal: Journal, providers: Providers) -> None:
        self._ledger = Ledger(journal)
        self._providers = providers

    async def for_turn(self, entry: QueuedEvent, target: RunTarget) -> Grant:
        """Returns the grant of a run that starts now. A grant that was frozen when the run was created applies to all
        its attempts.
        """
        has_run_request = entry.event.envelope.run_request is not None
        granted_run_id = entry.run_id or (entry.parent_run_id if has_run_request else NO_RUN)
        granted_run = await self._ledger.get_run(granted_run_id) if granted_run_id else None
        if granted_run is not None:
            return grants.from_snapshot(granted_run["snapshot"], entry.event, target.binding, target.descriptor)
        return self._compute(entry.event, target)

    def for_request(
        self, caller: ActionCaller, authority: EventEnvelope, event: RecordedEvent, target: RunTarget
    ) -> Grant:
        """Returns the grant of a run that a plugin creates: at most what the plugin may do itself."""
        full_grant = self._compute(event, target, authority)
        return intersect_grants(full_grant, caller.grant, within_a_run=caller.session is not None)

    def for_retry(self, run: Row, event: RecordedEvent, target: RunTarget) -> Grant:
        """Computes a new grant; a run that was created by a plugin keeps its grant."""
        if event.envelope.run_request is None:
            return self._compute(event, target)
        return grants.from_snapshot(run["snapshot"], event, target.binding, target.descriptor)

    def for_rerun(self, run: Row, event: RecordedEvent, target: RunTarget) -> Grant:
        """Computes a new grant for the sender of the event. A run that was created by a plugin gets at most what it had
        then.
        """
        grant = self._compute(event, target)
        if event.envelope.run_request is None:
            return grant
        original_grant = grants.from_snapshot(run["snapshot"], event, target.binding, target.descriptor)
        return intersect_grants(grant, original_grant, within_a_run=True)

    def _compute(self, event: RecordedEvent, target: RunTarget, authority: EventEnvelope | None = None) -> Grant:
        return grants.compute(event, target.binding, target.descriptor, self._providers, authority)

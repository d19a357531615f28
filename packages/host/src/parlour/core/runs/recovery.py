"""Recovers pending events from the inbox: at the start for all lanes, after a storage failure for one."""

import logging
from itertools import count

from parlour.core.config.agents import AgentRepository
from parlour.core.delivery.service import DeliveryService
from parlour.core.journal import Journal, Row, Select, Unit, UnitBuilder, one_of, where
from parlour.core.model.ids import NO_RUN, ConversationId, PartId, RunId
from parlour.core.store import event_log, inbox
from parlour.core.store.inbox import AttemptCounts, Inbox
from parlour.core.store.ledger import Ledger, update_progress
from parlour.core.store.remote_queue import RemoteQueueStore
from parlour.core.store.tables import EVENTS, RUNS

from .completion import EndedRun, RunCompleter
from .outcomes import Outcomes
from .run_state import is_answered, load_shown_text
from .session import QueuedEvent, RunTermination
from .session_registry import RunSessions
from .unrecorded_usage import load_unrecorded_usage

logger = logging.getLogger(__name__)

PAGE_ROWS = 200
"""Rows per query."""
INTERRUPTED = RunTermination("failed", "interrupted", "the Host stopped while the run was active", by_host=True)
ANSWERED = RunTermination("completed", "stop")
INTERRUPTED_BY_FAILURE = RunTermination(
    "failed", "interrupted", "the run was cut off when the Host could not go on with it"
)


class Recovery:
    """Ends interrupted runs and returns the events to handle."""

    def __init__(
        self,
        journal: Journal,
        agents: AgentRepository,
        completer: RunCompleter,
        delivery: DeliveryService,
        outcomes: Outcomes,
        sessions: RunSessions,
    ) -> None:
        self._journal = journal
        self._inbox = Inbox(journal)
        self._ledger = Ledger(journal)
        self._queue = RemoteQueueStore(journal)
        self._agents = agents
        self._completer = completer
        self._delivery = delivery
        self._outcomes = outcomes
        self._sessions = sessions

    async def recover_all(self, part: PartId | None = None) -> list[QueuedEvent]:
        """Returns all pending events in the order of their arrival; interrupted runs are ended first.

        `part` limits the recovery to the events of a part that this Host has taken over. A crash of its owner was
        counted for all parts of that Host at once, when it was fenced.
        """
        rows = await self._inbox.all(part)
        return await self._recover(rows if part is not None else await self._count_crash(rows), INTERRUPTED)

    async def recover_lane(self, name: ConversationId) -> list[QueuedEvent]:
        """Returns the pending events of one lane; runs that were interrupted by a failure of the Host are ended
        first.
        """
        return await self._recover(
            [row for row in await self._inbox.all() if row["lane"] == name], INTERRUPTED_BY_FAILURE
        )

    async def _count_crash(self, rows: list[Row]) -> list[Row]:
        """Counts a crash of the previous process for the events that were in flight, and returns the updated rows.

        One unit counts it for all of them, so that another crash during the recovery makes no event look as if it was
        alone.
        """
        in_flight = [row for row in rows if row["in_flight"]]
        if not in_flight:
            return rows
        commands = [row for row in rows if row["state"] == "control"]
        was_alone = len(in_flight) + len(commands) == 1
        await self._journal.commit(Unit("inbox.death", (inbox.count_crash(was_alone),)))
        logger.warning("the Host had stopped unexpectedly while %d events were in flight", len(in_flight))
        return await self._inbox.all()

    async def _recover(self, rows: list[Row], termination: RunTermination) -> list[QueuedEvent]:
        entries = {row["event_seq"]: entry for row, entry in zip(rows, await self._entries(rows), strict=True)}
        pending = [entries[row["event_seq"]] for row in rows if row["state"] == "owed"]
        pending += [entries[seq] for seq in await self._release(rows)]
        remote_run_ids = await self._queue.run_ids()
        for row in rows:
            if row["state"] == "running" and self._sessions.get(row["run_id"]) is None:
                if row["run_id"] in remote_run_ids:
                    pending.append(self._mark_remote(row, entries[row["event_seq"]]))
                    continue
                taken_by_run = [entries[each["event_seq"]] for each in rows if each["run_id"] == row["run_id"]]
                async with self._sessions.sequence_lock(row["run_id"]):
                    pending += await self._end_interrupted(
                        row, entries[row["event_seq"]], rows, taken_by_run, termination
                    )
        return sorted(pending, key=lambda entry: entry.seq)

    async def _release(self, rows: list[Row]) -> list[int]:
        """Releases events that were claimed by or injected into a run that is over. A database failure at its end
        leaves them behind, because it is then uncertain whether the run ended.
        """
        running_run_ids = {row["run_id"] for row in rows if row["state"] == "running"}
        taken_rows = [
            row for row in rows if row["state"] in ("claimed", "injected") and row["run_id"] not in running_run_ids
        ]
        abandoned = {row["event_seq"]: row["run_id"] for row in taken_rows if self._sessions.get(row["run_id"]) is None}
        if abandoned:
            statements = tuple(inbox.release_all(run_id) for run_id in {*abandoned.values()})
            await self._journal.commit(Unit("inbox.release", statements))
        return list(abandoned)

    def _mark_remote(self, row: Row, entry: QueuedEvent) -> QueuedEvent:
        """Marks the event of a remote run; its lane waits for the run again, because the worker may still execute
        it.
        """
        entry.run_id, entry.queued_remotely = row["run_id"], True
        return entry

    async def _end_interrupted(
        self,
        row: Row,
        entry: QueuedEvent,
        rows: list[Row],
        taken_by_run: list[QueuedEvent],
        termination: RunTermination,
    ) -> list[QueuedEvent]:
        run = await self._ledger.get_run(row["run_id"])
        if run is None:
            raise LookupError(f"inbox row {row['event_seq']} names run {row['run_id']}, which does not exist")
        if await is_answered(self._journal, run):
            termination = ANSWERED
        states = {each["event_seq"]: each["state"] for each in rows}
        unrecorded = await load_unrecorded_usage(self._ledger, run, run["updated_at"])
        ended_run = EndedRun(
            run_id=run["run_id"],
            event=entry.event,
            agent=self._agents.get(run["agent_id"]),
            tries=entry.tries,
            has_output=bool(run["shown"]),
            has_effects=bool(run["effects"]),
            next_sequence=count(unrecorded.next_sequence).__next__,
            usage=unrecorded.usage,
            claimed=tuple(each for each in taken_by_run if states[each.seq] == "claimed"),
            injected=tuple(each for each in taken_by_run if states[each.seq] == "injected"),
        )
        draft = UnitBuilder("run.interrupt")
        draft.add(update_progress(run["run_id"], run["updated_at"]), *unrecorded.rows)
        if termination is not ANSWERED:
            shown = self._masked(await load_shown_text(self._journal, run), ended_run)
            self._completer.keep_interrupted(draft, entry.event, run["run_id"], shown)
        completion = self._completer.add_completion(draft, ended_run, termination)
        await self._delivery.publisher.deliver(self._journal, draft.build(), completion.rows)
        consequence = (
            "it had answered"
            if termination is ANSWERED
            else "it is tried again"
            if completion.retry
            else "its sender is notified"
        )
        logger.warning("run %s was interrupted; %s", run["run_id"], consequence)
        self._delivery.publisher.run_ended(entry.lane, run["run_id"], completion.status, completion.feed_seq)
        self._outcomes.publish(completion.outcomes)
        entry.parent_run_id, entry.tries = run["run_id"], completion.tries
        return [*completion.requeued, entry] if completion.retry else completion.requeued

    def _masked(self, text: str, run: EndedRun) -> str:
        """Returns a streamed text as the output filters of the run's agent let it be shown."""
        if not text or run.agent is None or not run.agent.message_policy:
            return text
        rules = self._delivery.output_policies.for_run(run.agent.message_policy, run.event)
        return text if rules is None or rules.held_back is None else rules.held_back.add(text)

    async def _entries(self, rows: list[Row]) -> list[QueuedEvent]:
        events: dict[int, Row] = {}
        for start in range(0, len(rows), PAGE_ROWS):
            seqs = [row["event_seq"] for row in rows[start : start + PAGE_ROWS]]
            event_rows = await self._journal.read(Select(EVENTS, where(seq=one_of(*seqs))))
            events.update({event["seq"]: event for event in event_rows})
        not_started = await self._not_started_run_ids(
            [row["run_id"] for row in rows if row["state"] == "owed" and row["run_id"]]
        )
        return [
            QueuedEvent(
                event_log.from_row(events[row["event_seq"]]),
                attempts=row["attempts"],
                transcript_seq=row["transcribed"],
                tries=AttemptCounts(row["failures"], row["deaths"], row["lone_deaths"]),
                parent_run_id=row["run_id"] if row["state"] == "owed" and row["run_id"] not in not_started else NO_RUN,
                run_id=row["run_id"] if row["run_id"] in not_started else NO_RUN,
            )
            for row in rows
        ]

    async def _not_started_run_ids(self, run_ids: list[RunId]) -> set[RunId]:
        """Returns those of the runs that have not started yet."""
        not_started: set[RunId] = set()
        for start in range(0, len(run_ids), PAGE_ROWS):
            conditions = where(run_id=one_of(*run_ids[start : start + PAGE_ROWS]), status="created")
            not_started |= {row["run_id"] for row in await self._journal.read(Select(RUNS, conditions, ("run_id",)))}
        return not_started

"""Recovers pending events from the inbox: at the start for all lanes, after a storage failure for one."""

import logging
from itertools import count

from parlour.core.config.agents import AgentBook
from parlour.core.delivery.composer import Delivery
from parlour.core.journal import Draft, Journal, Row, Select, Unit, one_of, where
from parlour.core.store import event_log, inbox
from parlour.core.store.inbox import Inbox, Tries
from parlour.core.store.ledger import Ledger, touch
from parlour.core.store.remote_queue import Queue
from parlour.core.store.tables import EVENTS, RUNS

from .answered import is_answered
from .completion import EndingRun, Endings
from .outcomes import Outcomes
from .session import Ending, Entry, Sessions
from .unrecorded_usage import unfinished

logger = logging.getLogger(__name__)

PAGE = 200
"""Rows per query."""
INTERRUPTED = Ending("failed", "interrupted", "the Host stopped while the run was active", by_host=True)
ANSWERED = Ending("completed", "stop")
CUT_OFF = Ending("failed", "interrupted", "the run was cut off when the Host could not go on with it")


class Recovery:
    """Ends interrupted runs and returns the events to handle."""

    def __init__(
        self,
        journal: Journal,
        agents: AgentBook,
        endings: Endings,
        delivery: Delivery,
        outcomes: Outcomes,
        sessions: Sessions,
    ) -> None:
        self._journal = journal
        self._inbox = Inbox(journal)
        self._ledger = Ledger(journal)
        self._queue = Queue(journal)
        self._agents = agents
        self._endings = endings
        self._delivery = delivery
        self._outcomes = outcomes
        self._sessions = sessions

    async def everything(self) -> list[Entry]:
        """Returns all pending events in the order of their arrival; interrupted runs are ended first."""
        return await self._take_up(await self._count_death(await self._inbox.all()), INTERRUPTED)

    async def lane(self, name: str) -> list[Entry]:
        """Returns the pending events of one lane; runs that were interrupted by a failure of the Host are ended
        first.
        """
        return await self._take_up([row for row in await self._inbox.all() if row["lane"] == name], CUT_OFF)

    async def _count_death(self, rows: list[Row]) -> list[Row]:
        """Counts a crash of the previous process for the events that were in flight, and returns the updated rows.

        One unit counts it for all of them, so that another crash during the recovery makes no event look as if it was
        alone.
        """
        in_flight = [row for row in rows if row["in_flight"]]
        if not in_flight:
            return rows
        instructions = [row for row in rows if row["state"] == "control"]
        alone = len(in_flight) + len(instructions) == 1
        await self._journal.commit(Unit("inbox.death", (inbox.count_death(alone),)))
        logger.warning("the Host had stopped unexpectedly while %d events were in flight", len(in_flight))
        return await self._inbox.all()

    async def _take_up(self, rows: list[Row], ending: Ending) -> list[Entry]:
        entries = {row["event_seq"]: entry for row, entry in zip(rows, await self._entries(rows), strict=True)}
        owed = [entries[row["event_seq"]] for row in rows if row["state"] == "owed"]
        owed += [entries[seq] for seq in await self._release(rows)]
        parked = await self._queue.run_ids()
        for row in rows:
            if row["state"] == "running" and self._sessions.get(row["run_id"]) is None:
                if row["run_id"] in parked:
                    owed.append(self._park(row, entries[row["event_seq"]]))
                    continue
                taken = [entries[each["event_seq"]] for each in rows if each["run_id"] == row["run_id"]]
                async with self._sessions.counting(row["run_id"]):
                    owed += await self._interrupt(row, entries[row["event_seq"]], rows, taken, ending)
        return sorted(owed, key=lambda entry: entry.seq)

    async def _release(self, rows: list[Row]) -> list[int]:
        """Releases events that were claimed by or injected into a run that is over. A database failure at its end
        leaves them behind, because it is then uncertain whether the run ended.
        """
        at_work = {row["run_id"] for row in rows if row["state"] == "running"}
        taken = [row for row in rows if row["state"] in ("claimed", "injected") and row["run_id"] not in at_work]
        left = {row["event_seq"]: row["run_id"] for row in taken if self._sessions.get(row["run_id"]) is None}
        if left:
            released = tuple(inbox.release_all(run_id) for run_id in {*left.values()})
            await self._journal.commit(Unit("inbox.release", released))
        return list(left)

    def _park(self, row: Row, entry: Entry) -> Entry:
        """Marks the event of a remote run; its lane waits for the run again, because the worker may still execute
        it.
        """
        entry.run_id, entry.parked = row["run_id"], True
        return entry

    async def _interrupt(
        self, row: Row, entry: Entry, rows: list[Row], taken: list[Entry], ending: Ending
    ) -> list[Entry]:
        run = await self._ledger.run(row["run_id"])
        if run is None:
            raise LookupError(f"inbox row {row['event_seq']} names run {row['run_id']}, which does not exist")
        if await is_answered(self._journal, run):
            ending = ANSWERED
        states = {each["event_seq"]: each["state"] for each in rows}
        left = await unfinished(self._ledger, run, run["updated_at"])
        facts = EndingRun(
            run_id=run["run_id"],
            event=entry.event,
            agent=self._agents.get(run["agent_id"]),
            tries=entry.tries,
            shown=bool(run["shown"]),
            effects=bool(run["effects"]),
            next_sequence=count(left.next_sequence).__next__,
            usage=left.usage,
            claimed=tuple(each for each in taken if states[each.seq] == "claimed"),
            injected=tuple(each for each in taken if states[each.seq] == "injected"),
        )
        draft = Draft("run.interrupt")
        draft.add(touch(run["run_id"], run["updated_at"]), *left.rows)
        aftermath = self._endings.draft(draft, facts, ending)
        await self._delivery.deliver(self._journal, draft.unit(), aftermath.rows)
        then = (
            "it had answered"
            if ending is ANSWERED
            else "it is tried again"
            if aftermath.retry
            else "its sender is told"
        )
        logger.warning("run %s was interrupted; %s", run["run_id"], then)
        self._delivery.run_ended(entry.lane, run["run_id"], aftermath.status, aftermath.feed_seq)
        self._outcomes.settled(aftermath.settled)
        entry.parent_run_id, entry.tries = run["run_id"], aftermath.tries
        return [*aftermath.owed_again, entry] if aftermath.retry else aftermath.owed_again

    async def _entries(self, rows: list[Row]) -> list[Entry]:
        events: dict[int, Row] = {}
        for start in range(0, len(rows), PAGE):
            seqs = [row["event_seq"] for row in rows[start : start + PAGE]]
            found = await self._journal.read(Select(EVENTS, where(seq=one_of(*seqs))))
            events.update({event["seq"]: event for event in found})
        created = await self._created([row["run_id"] for row in rows if row["state"] == "owed" and row["run_id"]])
        return [
            Entry(
                event_log.restore(events[row["event_seq"]]),
                attempts=row["attempts"],
                transcribed=row["transcribed"],
                tries=Tries(row["failures"], row["deaths"], row["lone_deaths"]),
                parent_run_id=row["run_id"] if row["state"] == "owed" and row["run_id"] not in created else "",
                run_id=row["run_id"] if row["run_id"] in created else "",
            )
            for row in rows
        ]

    async def _created(self, run_ids: list[str]) -> set[str]:
        """Returns those of the runs that have not started yet."""
        created: set[str] = set()
        for start in range(0, len(run_ids), PAGE):
            conditions = where(run_id=one_of(*run_ids[start : start + PAGE]), status="created")
            created |= {row["run_id"] for row in await self._journal.read(Select(RUNS, conditions, ("run_id",)))}
        return created

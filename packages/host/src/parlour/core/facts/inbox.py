"""What is owed: one row per event that still needs work, and none after it.

States: `owed` waits for its turn; `running` is being answered by `run_id`; `claimed` waits in that run's steering
queue; `injected` was pulled by it; `control` is an instruction to the Host that is being carried out. An owed row that
had a run before keeps that run's id; one for which a run was created names that. `transcribed` is the number of the
event's transcript item, which is written once; zero until then.
"""

from parlour.core.journal import (
    ANY,
    Delete,
    Increment,
    Insert,
    Journal,
    Ref,
    Row,
    Select,
    Update,
    Upsert,
    one_of,
    where,
)
from parlour_sdk.values import dataclass

from .tables import INBOX, OUTCOMES


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of an event."""

    event_seq: int
    outcome: str
    reason: str
    run_id: str


def owe(event_seq: int | Ref, lane: str, run_id: str = "", attempts: int = 0, transcribed: int = 0) -> Insert:
    """`run_id` names a run that was created for the event and waits for its turn."""
    values: dict[str, str | int | Ref] = {
        "event_seq": event_seq,
        "lane": lane,
        "state": "owed",
        "run_id": run_id,
        "attempts": attempts,
        "transcribed": transcribed,
    }
    return Insert(INBOX, values)


def obey(event_seq: Ref, lane: str) -> Insert:
    """An instruction is owed too until it is carried out, though in no lane."""
    values: dict[str, str | int | Ref] = {"event_seq": event_seq, "lane": lane, "state": "control", "run_id": ""}
    return Insert(INBOX, {**values, "attempts": 0, "transcribed": 0})


def obeyed(settled: Settled, now: int) -> tuple[Delete, Insert]:
    """It is carried out; whoever came with the same event meanwhile may have said so before."""
    own = where(event_seq=settled.event_seq, state="control")
    return Delete(INBOX, own, expect=ANY), decide(settled, now)


def begin(event_seq: int, run_id: str, transcribed: int | Ref) -> Update:
    """The attempt counts before the plugin is called, so that an event that kills its Host can't loop."""
    return Update(
        INBOX,
        {"state": "running", "run_id": run_id, "attempts": Increment(), "transcribed": transcribed},
        where(event_seq=event_seq, state="owed"),
    )


def begun(event_seq: Ref, lane: str, run_id: str, transcribed: int | Ref) -> Insert:
    """An event whose first attempt begins as it is recorded."""
    values: dict[str, str | int | Ref] = {"event_seq": event_seq, "lane": lane, "state": "running", "run_id": run_id}
    return Insert(INBOX, {**values, "attempts": 1, "transcribed": transcribed})


def attempt(event_seq: int) -> Update:
    """Counts before listeners are called, for the same reason."""
    return Update(INBOX, {"attempts": Increment()}, where(event_seq=event_seq, state="owed"))


def claim(event_seq: int, run_id: str, transcribed: int | Ref) -> Update:
    return Update(
        INBOX,
        {"state": "claimed", "run_id": run_id, "transcribed": transcribed},
        where(event_seq=event_seq, state="owed"),
    )


def inject(event_seq: int, run_id: str) -> Update:
    return Update(INBOX, {"state": "injected"}, where(event_seq=event_seq, run_id=run_id, state="claimed"))


def release_claimed(run_id: str) -> Update:
    """What the run took and never pulled is owed again."""
    return Update(INBOX, {"state": "owed", "run_id": ""}, where(run_id=run_id, state="claimed"), expect=ANY)


def release_all(run_id: str) -> Update:
    """Whatever the run took is owed again, pulled or not."""
    taken = one_of("claimed", "injected")
    return Update(INBOX, {"state": "owed", "run_id": ""}, where(run_id=run_id, state=taken), expect=ANY)


def owe_again(event_seq: int) -> Update:
    return Update(INBOX, {"state": "owed"}, where(event_seq=event_seq, state="running"))


def settle(settled: Settled, now: int) -> tuple[Delete, Insert]:
    """Nothing is owed any more; what became of the event is a fact. That of a later run replaces an earlier one."""
    return Delete(INBOX, where(event_seq=settled.event_seq)), decide(settled, now)


def decide(settled: Settled, now: int, event_seq: Ref | None = None) -> Insert:
    """What became of an event for which nothing was owed. `event_seq` when the same unit records the event."""
    return Insert(
        OUTCOMES,
        {
            "event_seq": event_seq or settled.event_seq,
            "outcome": settled.outcome,
            "reason": settled.reason,
            "run_id": settled.run_id,
            "decided_at": now,
        },
        conflict=Upsert(("event_seq",), ("outcome", "reason", "run_id", "decided_at")),
    )


class Inbox:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def all(self) -> list[Row]:
        """In the order the events came."""
        return await self._journal.read(Select(INBOX, order=("event_seq",)))

    async def controls(self) -> list[int]:
        """Events whose instructions may not have been carried out."""
        query = Select(INBOX, where(state="control"), ("event_seq",), order=("event_seq",))
        return [int(row["event_seq"]) for row in await self._journal.read(query)]

    async def outcome(self, event_seq: int) -> Settled | None:
        rows = await self._journal.read(Select(OUTCOMES, where(event_seq=event_seq), limit=1, few=True))
        return Settled(event_seq, rows[0]["outcome"], rows[0]["reason"], rows[0]["run_id"]) if rows else None

    async def working_run(self, event_seq: int) -> str:
        """The run that is at work on this event, if any."""
        rows = await self._journal.read(Select(INBOX, where(event_seq=event_seq), columns=("run_id",), limit=1))
        return str(rows[0]["run_id"]) if rows else ""

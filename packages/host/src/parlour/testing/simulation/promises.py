"""What must hold after every schedule, whatever happened in it."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from parlour.core.encoding import loads
from parlour.core.facts.ledger import ACTIVE
from parlour.core.facts.tables import EVENTS, INBOX, OUTBOX, OUTCOMES, RUN_EVENTS, RUNS, TRANSCRIPT
from parlour.core.journal import Row, Select
from parlour.core.runs.restart import ATTEMPTS

from .world import World


class BrokenPromise(Exception):
    """The Host did not keep its word."""


@dataclass(slots=True)
class Said:
    event_id: str
    chat: str
    surface: str
    person: str
    text: str
    accepted: bool = False

    @property
    def token(self) -> str:
        return self.text.split()[1]


def require(holds: bool, promise: str) -> None:
    if not holds:
        raise BrokenPromise(promise)


def check(world: World, said: list[Said]) -> None:
    facts = Facts(world)
    require(not facts.inbox, "nothing is owed any more")
    for each in said:
        _check_message(facts, each)
    _check_numbers(facts)
    _check_runs(facts)
    _check_deliveries(world, facts)
    _check_answers(facts, said)


class Facts:
    def __init__(self, world: World) -> None:
        read = world.database.read
        self.inbox = read(Select(INBOX))
        self.event_rows = read(Select(EVENTS, order=("seq",)))
        self.events = {row["event_id"]: row for row in self.event_rows if row["source"] != "system"}
        self.outcomes = {row["event_seq"]: row for row in read(Select(OUTCOMES))}
        self.runs = read(Select(RUNS, order=("run_id",)))
        self.run_events = read(Select(RUN_EVENTS))
        self.transcript = read(Select(TRANSCRIPT, order=("conversation_id", "seq")))
        self.outbox = read(Select(OUTBOX, order=("seq",)))


def _check_message(facts: Facts, said: Said) -> None:
    event = facts.events.get(said.event_id)
    require(event is not None or not said.accepted, f"{said.event_id} was accepted and is kept")
    if event is None:
        return
    outcome = facts.outcomes.get(event["seq"])
    require(outcome is not None, f"{said.event_id} has an outcome")
    assert outcome is not None
    if outcome["outcome"] == "answered":
        answers = [row for row in facts.outbox if row["kind"] == "message" and _holds(row, said.token)]
        answered_by = {row["run_id"] for row in answers if row["state"] in ("sent", "failed", "expired")}
        require(outcome["run_id"] in answered_by, f"{said.event_id} is answered by the run its outcome names")
    elif outcome["outcome"] in ("failed", "quarantined", "misconfigured"):
        notices = [row for row in facts.outbox if row["kind"] == "notice" and row["run_id"] == outcome["run_id"]]
        require(bool(notices), f"the sender of {said.event_id} was told")
    items = [row for row in facts.transcript if row["role"] == "user" and row["event_seq"] == event["seq"]]
    require(len(items) == 1, f"{said.event_id} is once in the transcript, not {len(items)} times")


def _check_numbers(facts: Facts) -> None:
    seqs = [row["seq"] for row in facts.event_rows]
    require(seqs == list(range(1, len(seqs) + 1)), "event numbers have no gap")
    by_conversation: dict[str, list[int]] = defaultdict(list)
    for row in facts.transcript:
        by_conversation[row["conversation_id"]].append(row["seq"])
    for numbers in by_conversation.values():
        require(numbers == list(range(1, len(numbers) + 1)), "transcript numbers have no gap")


def _check_runs(facts: Facts) -> None:
    attempts: Counter[int] = Counter()
    for run in facts.runs:
        require(run["status"] not in ACTIVE, f"run {run['run_id']} is over")
        attempts[run["event_seq"]] += 1
        for row in facts.outbox + facts.run_events:
            late = row["run_id"] == run["run_id"] and row["created_at"] > run["finished_at"]
            require(not late, "nothing of a run appears after its end")
    for seq, count in attempts.items():
        require(count <= ATTEMPTS, f"event {seq} was tried {count} times")


def _check_deliveries(world: World, facts: Facts) -> None:
    """Nothing twice, except a text that is marked, at most once per crash or lost answer."""
    repeats = 0
    for row in facts.outbox:
        if row["surface"] != "sim":
            continue
        times = [shown for shown in world.shown if shown.outbox_id == row["outbox_id"]]
        require(bool(times) or row["state"] != "sent", f"{row['outbox_id']} was sent and shown")
        require(all(shown.marked for shown in times[1:]), "a repeated text is marked")
        repeats += max(0, len(times) - 1)
    require(repeats <= world.crashes + world.lost_answers, f"{repeats} repeats for {world.crashes} crashes")
    for conversation_id in {shown.conversation_id for shown in world.shown}:
        order = [row["outbox_id"] for row in facts.outbox if row["conversation_id"] == conversation_id]
        first_shown: list[str] = []
        for shown in world.shown:
            if shown.conversation_id == conversation_id and shown.outbox_id not in first_shown:
                first_shown.append(shown.outbox_id)
        require(first_shown == [each for each in order if each in first_shown], "messages are shown in order")


def _check_answers(facts: Facts, said: list[Said]) -> None:
    """One answer per message: a second run speaks only when the first had shown nothing."""
    for each in said:
        answers = [row for row in facts.outbox if row["kind"] == "message" and _answers(row, each)]
        runs = {row["run_id"] for row in answers}
        require(len(runs) <= 1, f"{each.event_id} is answered by {len(runs)} runs")


def _answers(row: Row, said: Said) -> bool:
    return row["state"] != "streaming" and _content(row).startswith(said.text)


def _holds(row: Row, token: str) -> bool:
    return token in _content(row)


def _content(row: Row) -> str:
    return str(loads(row["payload"])["message"]["content"])

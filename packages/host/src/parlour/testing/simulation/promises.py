"""Checks the promises that hold after every schedule, whatever happened in it."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from parlour.core.encoding import loads
from parlour.core.journal import Row, Select
from parlour.core.model.ids import ConversationId, EventId, OutboxId
from parlour.core.model.reply_allowance import ReplyAllowance, ReplyUse
from parlour.core.runs.recovery import INTERRUPTED
from parlour.core.runs.retry_policy import CRASHES_BEFORE_TRIAL, MAX_FAILURES
from parlour.core.store.ledger import ACTIVE_STATUSES
from parlour.core.store.tables import (
    ARTIFACTS,
    EVENTS,
    INBOX,
    OUTBOX,
    OUTCOMES,
    REPLY_ALLOWANCES,
    RUN_EVENTS,
    RUNS,
    TRANSCRIPT,
)
from parlour_sdk.values import dataclass

POSTGRES_STEP = 64
"""Difference between two numbers of a Host on PostgreSQL (`stores/postgres/numbers.py`, whose driver is optional)."""


class BrokenPromise(Exception):
    """Says that the Host broke a promise."""


@dataclass(slots=True)
class ShownMessage:
    """Represents a message that the platform showed to its users."""

    outbox_id: OutboxId
    conversation_id: ConversationId
    text: str
    marked: bool
    reply: ReplyUse | None = None
    """The use of its event's reply allowance, if the platform limits replies."""


@dataclass(slots=True)
class UserMessage:
    """Represents a message that a user wrote."""

    event_id: EventId
    chat: str
    surface: str
    person: str
    text: str
    accepted: bool = False
    allowance: ReplyAllowance | None = None
    """The replies that its platform allows to it."""

    @property
    def asks(self) -> bool:
        """True if its answer may leave an approval open and is then not the end of its run."""
        return self.text.startswith("ask ")

    @property
    def token(self) -> str:
        return self.text.split()[-1]


def require(holds: bool, promise: str) -> None:
    if not holds:
        raise BrokenPromise(promise)


def check(
    read: Callable[[Select], list[Row]],
    messages: list[UserMessage],
    shown: list[ShownMessage],
    allowed_repeats: int,
    held: Collection[OutboxId] = (),
) -> None:
    """Checks all promises. `shown` lists the messages on the platform `sim`; one repeat is allowed
    per crash and lost answer. Replies in `held` had to wait, so that later ones may be shown before them.
    """
    facts = Facts(read)
    require(not facts.inbox, "nothing is owed any more")
    for each in messages:
        _check_message(facts, each)
    for event_id, event in facts.events.items():
        require(event["seq"] in facts.outcomes, f"{event_id} has an outcome, whoever brought it")
    _check_numbers(facts)
    _check_reruns(facts)
    _check_runs(facts)
    _check_deliveries(facts, shown, allowed_repeats)
    _check_order(facts, [each for each in shown if each.outbox_id not in held])
    _check_answers(facts, messages)


def check_files(read: Callable[[Select], list[Row]], content: Mapping[str, bytes]) -> None:
    """Checks that each file row has its content and that each file in a message has its row."""
    files = {row["artifact_id"]: row for row in read(Select(ARTIFACTS))}
    for row in files.values():
        require(row["sha256"] in content, f"file {row['artifact_id']} has its content")
    for row in read(Select(OUTBOX)):
        for ref in loads(row["payload"])["message"].get("artifact_refs", ()):
            require(ref["artifact_id"] in files, f"the file of message {row['outbox_id']} is there")


def check_acts(acts: Mapping[str, int]) -> None:
    """Checks that a tool acts once, whatever is retried."""
    for text, times in acts.items():
        require(times == 1, f"the tool acted {times} times on '{text}'")


def check_allowances(
    read: Callable[[Select], list[Row]], messages: list[UserMessage], shown: list[ShownMessage]
) -> None:
    """Checks that no more replies than allowed are shown or counted, and that no reply that may have been shown is sent
    as a message of the bot's own.
    """
    limits = {each.event_id: each.allowance for each in messages if each.allowance is not None}
    for row in read(Select(REPLY_ALLOWANCES)):
        require(row["used"] <= row["allowed"], f"event {row['event_id']} has {row['used']} replies")
    replies = [each for each in shown if each.reply is not None and each.reply.number]
    for event_id, allowance in limits.items():
        numbers = [each.reply.number for each in replies if each.reply and each.reply.event_id == event_id]
        require(len(numbers) <= allowance.count, f"{len(numbers)} replies to {event_id} are shown")
        require(len(set(numbers)) == len(numbers), f"no reply to {event_id} has the number of another one")
    replied = {each.outbox_id for each in replies}
    pushed = {each.outbox_id for each in shown if each.reply is not None and not each.reply.number}
    require(not replied & pushed, f"replies {replied & pushed} were shown and sent again as the bot's own messages")


def check_marks(shown: list[ShownMessage], tries: Mapping[str, int]) -> None:
    """Checks that no text is marked as a possible repeat of one that was never sent."""
    for each in shown:
        require(not each.marked or tries[each.outbox_id] > 1, f"{each.outbox_id} is marked and was handed over before")


def check_repeats(shown: list[ShownMessage], allowed: int, most_under_way: int) -> None:
    """Checks that one crash or lost answer repeats at most one text, because only one is with the
    platform at a time.
    """
    require(most_under_way <= 1, f"{most_under_way} texts are with the platform at a time")
    extras = len(shown) - len({each.outbox_id for each in shown})
    require(extras <= allowed, f"{extras} texts are repeated where {allowed} may be")


def check_quarantine(read: Callable[[Select], list[Row]], in_flight: Sequence[frozenset[int]]) -> None:
    """Checks that kills of the Host alone quarantine an event only if it was alone in flight at each of them, or at the
    fourth, when it was tried alone. `in_flight` are the events in flight at each kill.
    """
    facts = Facts(read)
    for seq, outcome in facts.outcomes.items():
        runs = [run for run in facts.runs if run["event_seq"] == seq and not run["rerun_of"]]
        if outcome["outcome"] != "quarantined" or any(run["error"] != INTERRUPTED.error for run in runs):
            continue
        deaths = [events for events in in_flight if seq in events]
        single_deaths = [events for events in deaths if len(events) == 1]
        blamed = len(single_deaths) == len(deaths) >= MAX_FAILURES or len(deaths) > CRASHES_BEFORE_TRIAL
        require(blamed, f"event {seq} is not blamed for {len(deaths)} deaths of the Host")


def check_poison(
    read: Callable[[Select], list[Row]], messages: list[UserMessage], in_flight: Sequence[frozenset[int]]
) -> None:
    """Checks that a message that kills the Host is tried alone at the fourth time and then
    quarantined, and that all others are answered.
    """
    facts = Facts(read)
    for each in messages:
        event = facts.events[each.event_id]
        expected = "quarantined" if each.text.startswith("poison") else "answered"
        outcome = facts.outcomes[event["seq"]]["outcome"]
        require(outcome == expected, f"{each.text} is {expected}, not {outcome}")
        if expected == "quarantined":
            notices = [row for row in facts.outbox if row["conversation_id"] == event["conversation_id"]]
            codes = [loads(row["payload"])["message"]["metadata"]["notice"] for row in notices]
            require(codes == ["quarantined.host"], f"the sender is told that the Host stopped each time, not {codes}")
    require(len(in_flight) == CRASHES_BEFORE_TRIAL + 1, f"the Host died {len(in_flight)} times")
    require(len(in_flight[-1]) == 1, "nothing else was in flight when the message was tried alone")


class Facts:
    def __init__(self, read: Callable[[Select], list[Row]]) -> None:
        self.inbox = read(Select(INBOX))
        self.event_rows = read(Select(EVENTS, order=("seq",)))
        self.events = {row["event_id"]: row for row in self.event_rows if row["source"] != "system"}
        self.outcomes = {row["event_seq"]: row for row in read(Select(OUTCOMES))}
        self.runs = read(Select(RUNS, order=("run_id",)))
        self.run_events = read(Select(RUN_EVENTS))
        self.transcript = read(Select(TRANSCRIPT, order=("conversation_id", "seq")))
        self.outbox = read(Select(OUTBOX, order=("seq",)))


def _is_counted(row: Row) -> bool:
    """Returns whether a row is a reply to an event whose platform limits replies."""
    return "reply" in loads(row["payload"])


def _check_message(facts: Facts, message: UserMessage) -> None:
    event = facts.events.get(message.event_id)
    require(event is not None or not message.accepted, f"{message.event_id} was accepted and is kept")
    if event is None:
        return
    outcome = facts.outcomes.get(event["seq"])
    require(outcome is not None, f"{message.event_id} has an outcome")
    assert outcome is not None
    if outcome["outcome"] == "answered":
        answers = [row for row in facts.outbox if row["kind"] == "message" and _holds(row, message.token)]
        answered_by = {row["run_id"] for row in answers if row["state"] in ("sent", "failed", "expired", "held")}
        require(outcome["run_id"] in answered_by, f"{message.event_id} is answered by the run its outcome names")
        is_lost = any(row["run_id"] == outcome["run_id"] and row["state"] == "failed" for row in answers)
        has_notice = any(
            row["kind"] == "notice" and _is_notice_for(row, message, event, outcome) for row in facts.outbox
        )
        # The platform may accept no notice either, as a reply to the message or to the one that its run answers.
        may_stay_silent = message.allowance is not None or any(_is_counted(row) for row in answers)
        require(
            has_notice or may_stay_silent or not is_lost,
            f"the sender of {message.event_id} was told that its answer may be lost",
        )
    elif outcome["outcome"] in ("failed", "quarantined", "misconfigured"):
        notices = [
            row for row in facts.outbox if row["kind"] == "notice" and _is_notice_for(row, message, event, outcome)
        ]
        require(bool(notices), f"the sender of {message.event_id} was told")
        complete = [row for row in facts.outbox if row["run_id"] == outcome["run_id"] and _answers(row, message)]
        cut_off = outcome["reason"] == "interrupted" and not message.asks
        require(not (cut_off and complete), f"the whole answer to {message.event_id} is not told as interrupted")
    items = [row for row in facts.transcript if row["role"] == "user" and row["event_seq"] == event["seq"]]
    require(len(items) == 1, f"{message.event_id} is once in the transcript, not {len(items)} times")


def _is_notice_for(notice: Row, message: UserMessage, event: Row, outcome: Row) -> bool:
    """Returns whether the notice belongs to the message. One notice on a platform covers all
    minutes of a conversation.
    """
    if message.surface == "platform":
        return bool(notice["conversation_id"] == event["conversation_id"])
    return bool(notice["run_id"] == outcome["run_id"])


def _check_numbers(facts: Facts) -> None:
    seqs = [row["seq"] for row in facts.event_rows]
    step = POSTGRES_STEP if seqs[:1] == [POSTGRES_STEP] else 1
    require(seqs == [step * number for number in range(1, len(seqs) + 1)], "event numbers have no gap")
    by_conversation: dict[str, list[int]] = defaultdict(list)
    for row in facts.transcript:
        by_conversation[row["conversation_id"]].append(row["seq"])
    for numbers in by_conversation.values():
        require(numbers == list(range(1, len(numbers) + 1)), "transcript numbers have no gap")


def _check_runs(facts: Facts) -> None:
    attempts: Counter[int] = Counter()
    for run in facts.runs:
        require(run["status"] not in ACTIVE_STATUSES, f"run {run['run_id']} is over")
        attempts[run["event_seq"]] += not run["rerun_of"]
        messages = [row for row in facts.outbox if row["kind"] == "message"]
        plugin_events = [row for row in facts.run_events if row["type"] != "approval.decided"]  # users take their time
        for row in messages + plugin_events:
            is_late = row["run_id"] == run["run_id"] and row["created_at"] > run["finished_at"]
            require(not is_late, "nothing of a run appears after its end")
    for seq, count in attempts.items():
        require(count <= MAX_FAILURES + CRASHES_BEFORE_TRIAL, f"event {seq} was tried {count} times")


def _check_reruns(facts: Facts) -> None:
    reruns = {run["run_id"] for run in facts.runs if run["rerun_of"]}
    for row in (*facts.outbox, *facts.transcript):
        require(row["run_id"] not in reruns, "nothing of a rerun is delivered or said")


def _check_deliveries(facts: Facts, shown: list[ShownMessage], allowed_repeats: int) -> None:
    """Checks that no text is shown twice, except a marked one, at most once per crash or lost answer."""
    for row in facts.outbox:
        if row["surface"] != "sim":
            continue
        times = [each for each in shown if each.outbox_id == row["outbox_id"]]
        require(bool(times) or row["state"] != "sent", f"{row['outbox_id']} was sent and shown")
        require(all(each.marked for each in times[1:]), "a repeated text is marked")
        require(len(times) <= 1 + allowed_repeats, f"a text is shown {len(times)} times")


def _check_order(facts: Facts, shown: list[ShownMessage]) -> None:
    for conversation_id in {each.conversation_id for each in shown}:
        order = [row["outbox_id"] for row in facts.outbox if row["conversation_id"] == conversation_id]
        first_shown = list(dict.fromkeys(each.outbox_id for each in shown if each.conversation_id == conversation_id))
        require(first_shown == [each for each in order if each in first_shown], "messages are shown in order")


def _check_answers(facts: Facts, messages: list[UserMessage]) -> None:
    """Checks for one answer per message: a second run answers only if the first had shown nothing."""
    for each in messages:
        answers = [row for row in facts.outbox if row["kind"] == "message" and _answers(row, each)]
        runs = {row["run_id"] for row in answers}
        require(len(runs) <= 1, f"{each.event_id} is answered by {len(runs)} runs")


def _answers(row: Row, message: UserMessage) -> bool:
    return row["kind"] == "message" and row["state"] != "streaming" and _content(row).startswith(message.text)


def _holds(row: Row, token: str) -> bool:
    return token in _content(row)


def _content(row: Row) -> str:
    return str(loads(row["payload"])["message"]["content"])

"""Checks the promises about jobs after every schedule: nothing is stuck, each repetition is counted, and keys are in
order.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from parlour.core.encoding import loads
from parlour.core.jobs.job import OPEN_STATES
from parlour.core.journal import Row, Select, where
from parlour.core.model.ids import EventId
from parlour.core.store.tables import EVENTS, JOBS, TRAIL

from .deliveries import OBSERVER, Attempt, Deliveries
from .promises import UserMessage, require

Read = Callable[[Select], list[Row]]


def check_jobs(read: Read, deliveries: Deliveries, messages: Sequence[UserMessage]) -> None:
    """Checks the calls of webhooks and the deliveries to the observing plugin."""
    if not deliveries.is_active:
        return
    jobs = read(Select(JOBS))
    for row in jobs:
        require(row["state"] not in OPEN_STATES, f"job {row['job_id']} is finished")
    numbers = {EventId(row["event_id"]): row["seq"] for row in read(Select(EVENTS))}
    for event_id, accepted in deliveries.hooked.items():
        require(event_id in numbers or not accepted, f"{event_id} was accepted and is kept")
        if event_id in numbers:
            ended = [row for row in jobs if row["kind"] == "webhook" and row["event_seq"] == numbers[event_id]]
            _check_calls(
                read, numbers[event_id], [each for each in deliveries.calls if each.event_id == event_id], ended
            )
    recorded = [
        event_id for event_id in (*(each.event_id for each in messages), *deliveries.hooked) if event_id in numbers
    ]
    _check_observed(read, deliveries.observed, {event_id: numbers[event_id] for event_id in recorded})


def _check_calls(read: Read, event_seq: int, calls: list[Attempt], ended: list[Row]) -> None:
    """Checks that a webhook took an event once, or that the repetition can be recognized and is counted."""
    notes = [loads(row["data"]) for row in read(Select(TRAIL, where(event_seq=event_seq, step="webhook")))]
    require(len(notes) == 1, f"the trail of event {event_seq} has the result of its webhook")
    was_taken = "took it" in notes[0]["text"]
    require(was_taken != bool(ended), f"the webhook of event {event_seq} has one result")
    require(not was_taken or any(each.taken for each in calls), f"the webhook took event {event_seq}")
    require(len({each.delivery_id for each in calls}) <= 1, f"repeated calls for event {event_seq} have the same id")
    require(len(calls) <= notes[0]["tries"], f"{len(calls)} calls for event {event_seq}, {notes[0]['tries']} counted")
    _check_confirmed(calls, f"the webhook of event {event_seq}")


def _check_observed(read: Read, observed: list[Attempt], numbers: dict[EventId, int]) -> None:
    """Checks that the plugin received each event at least once, in the order of the events."""
    known = [each for each in observed if each.event_id in numbers]
    for event_id, seq in numbers.items():
        attempts = [each for each in known if each.event_id == event_id]
        given_up = [row for row in read(Select(TRAIL, where(event_seq=seq))) if row["step"].startswith("listener")]
        require(bool(given_up) or any(each.taken for each in attempts), f"{event_id} was observed or given up")
        _check_confirmed(attempts, f"{OBSERVER} for {event_id}")
    order = [numbers[event_id] for event_id in _first_times(known)]
    require(order == sorted(order), f"{OBSERVER} receives events in order, not {order}")
    for earlier, later in pairwise(known):
        is_late = earlier.process == later.process and numbers[earlier.event_id] > numbers[later.event_id]
        require(not is_late, f"{OBSERVER} received {later.event_id} after {earlier.event_id}")


def _check_confirmed(attempts: Sequence[Attempt], receiver: str) -> None:
    """Checks that one Host process makes no attempt after one that was confirmed."""
    for earlier, later in pairwise(attempts):
        is_repeated = earlier.confirmed and earlier.process == later.process
        require(not is_repeated, f"{receiver} was called again after it had confirmed")


def _first_times(attempts: Iterable[Attempt]) -> list[EventId]:
    return list(dict.fromkeys(each.event_id for each in attempts))

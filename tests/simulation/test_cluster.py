"""Runs seeded schedules of two to four Hosts on one database, with a fault at each commit, send and beat."""

import os
from collections import Counter

import pytest

from parlour.testing.cluster import run_cluster
from parlour.testing.cluster.world import FAULTS
from parlour.testing.simulation.promises import BrokenPromise

SEEDS = int(os.environ.get("PARLOUR_CLUSTER_SEEDS", "200"))
MANY = int(os.environ.get("PARLOUR_MANY_CLUSTER_SEEDS", "5000"))
FIRST_SEED = int(os.environ.get("PARLOUR_SEED", "0"))
STEPS = ("part.take", "part.release", "part.request", "event.accept", "outbox.sending", "outbox.sent", "beat", "send")


def faults_in(seeds: range) -> Counter[str]:
    points: Counter[str] = Counter()
    for seed in seeds:
        points += run_cluster(seed).points
    return points


def is_shown_twice(seed: int) -> bool:
    """Runs a schedule without the gate, and returns whether it breaks the promise about repetitions."""
    try:
        run_cluster(seed, has_gate=False)
    except BrokenPromise as broken:
        return "the repetition of message" in str(broken)
    return False


def test_every_promise_holds_in_every_schedule() -> None:
    points = faults_in(range(FIRST_SEED, FIRST_SEED + SEEDS))
    assert len(points) > 30 or SEEDS < 200


def test_without_the_gate_a_message_is_repeated_without_a_mark() -> None:
    broken = (seed for seed in range(1000) if is_shown_twice(seed))
    assert next(broken, None) is not None


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_promise_holds_in_many_more_schedules_and_each_fault_met_each_step() -> None:
    points = faults_in(range(FIRST_SEED + SEEDS, FIRST_SEED + SEEDS + MANY))
    expected = {f"{fault} at {step}:{side}" for fault in FAULTS for step in STEPS for side in ("before", "after")}
    assert expected <= set(points) or MANY < 5000

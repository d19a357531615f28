"""Thousands of seeded lives of the core, with crashes at every commit and send. A failure names its seed."""

import logging
import os
from collections import Counter

from parlour.testing.simulation import run_schedule

logger = logging.getLogger(__name__)

STEPS = (
    "event.accept",
    "run.open",
    "run.stream",
    "run.progress",
    "run.deltas",
    "run.end",
    "run.interrupt",
    "steering.claim",
    "steering.pull",
    "state.set",
    "tool",
    "tool.call",
    "call.begin",
    "call.keep",
    "outbox.sending",
    "outbox.sent",
    "send",
)
"""Each was crashed into on both sides, or the schedules don't reach what they should."""

SCHEDULES = int(os.environ.get("PARLOUR_SCHEDULES", "2000"))
FIRST_SEED = int(os.environ.get("PARLOUR_SEED", "0"))


def test_every_promise_holds_in_every_schedule() -> None:
    points: Counter[str] = Counter()
    crashes = messages = 0
    for seed in range(FIRST_SEED, FIRST_SEED + SCHEDULES):
        report = run_schedule(seed)
        points += report.points
        crashes += report.crashes
        messages += report.messages
    logger.info("%d schedules, %d messages, %d crashes at %s", SCHEDULES, messages, crashes, dict(points))
    if SCHEDULES >= 2000:
        assert {f"{step}:{side}" for step in STEPS for side in ("before", "after")} <= set(points)

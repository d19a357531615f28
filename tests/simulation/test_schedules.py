"""Runs thousands of seeded schedules of the core, with crashes at every commit and send. A failure names its seed."""

import logging
import os
from collections import Counter

import pytest

from parlour.testing.simulation import run_schedule, run_with_poison

logger = logging.getLogger(__name__)

STEPS = (
    "event.begin",
    "event.accept",
    "run.open",
    "run.stream",
    "run.progress",
    "run.deltas",
    "run.end",
    "run.interrupt",
    "inbox.death",
    "steering.claim",
    "steering.pull",
    "state.set",
    "tool",
    "tool.call",
    "call.begin",
    "call.keep",
    "run.create",
    "run.queue",
    "run.claim",
    "run.begin",
    "run.renew",
    "run.requeue",
    "rerun.open",
    "rerun.end",
    "control.record",
    "control.settle",
    "conversation.renew",
    "retention.finish",
    "stream.shown",
    "approval.decide",
    "bot.send",
    "bot.edit",
    "bot.kick",
    "outbox.sending",
    "outbox.sent",
    "send",
    "event.hooked",
    "hooks.answer",
    "filters.answer",
    "job.begin",
    "job.wait",
    "job.end",
    "hook",
    "listener",
)
"""Each step must have been crashed into on both sides, or the schedules do not reach what they should."""

SCHEDULES = int(os.environ.get("PARLOUR_SCHEDULES", "1000"))
PARTS = 8
"""Each part has a worker of its own when tests run in parallel."""
MANY = int(os.environ.get("PARLOUR_MANY_SCHEDULES", "5000"))
FIRST_SEED = int(os.environ.get("PARLOUR_SEED", "0"))


def crashed_into(seeds: range) -> set[str]:
    """Returns the points at which schedules of these seeds have lost their Host."""
    points: Counter[str] = Counter()
    crashes = messages = 0
    for seed in seeds:
        report = run_schedule(seed)
        points += report.points
        crashes += report.crashes
        messages += report.messages
    logger.info("%d schedules, %d messages, %d crashes at %s", len(seeds), messages, crashes, dict(points))
    return set(points)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_promise_holds_in_every_schedule(part: int) -> None:
    points = crashed_into(range(FIRST_SEED, FIRST_SEED + SCHEDULES)[part::PARTS])
    assert len(points) > 30 or SCHEDULES < 1000


@pytest.mark.parametrize("seed", range(20))
def test_a_message_that_kills_the_host_is_quarantined_and_twenty_innocent_ones_are_answered(seed: int) -> None:
    assert run_with_poison(seed).messages == 21


@pytest.mark.long
@pytest.mark.timeout(900)
def test_every_promise_holds_in_many_more_schedules_and_each_step_was_crashed_into() -> None:
    points = crashed_into(range(FIRST_SEED + SCHEDULES, FIRST_SEED + SCHEDULES + MANY))
    assert {f"{step}:{side}" for step in STEPS for side in ("before", "after")} <= points or MANY < 4000

"""A trail tells which actions a run asked for, and who allowed or denied them."""

import asyncio
from typing import Any

import pytest

from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import EVENTS, OUTBOX
from parlour.core.system import SystemClock

from ..approvals.support import ASK, BOSS, Group


async def told(group: Group) -> str:
    [event] = [row for row in group.rows(EVENTS) if row["event_type"] == "message.received" and not _decides(row)]
    found = await Explanations(group.world.journal, SystemClock()).explain(event)
    return " ".join(step.text for step in found.steps)


def _decides(event: Any) -> bool:
    return str(event["input_summary"]).startswith(("approve", "deny"))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("approve", ". boss allowed member.kick."), ("deny", ". boss denied member.kick: she is kind.")],
)
async def test_who_decided_about_an_action_is_told_also_when_its_run_was_over(word: str, sentence: str) -> None:
    group = await Group.open({"member.kick": ASK})
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("I asked")
    await group.world.rest()
    assert "It asked for member.kick, which a person has to allow." in await told(group)

    await group.say(f"{word} {group.keyword}" + (" she is kind" if word == "deny" else ""), BOSS)
    await group.calm()

    assert sentence in await told(group)


async def test_that_nobody_decided_is_told() -> None:
    group = await Group.open({"member.kick": {**ASK, "seconds": 60}})
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("I asked")
    await group.world.rest()

    await asyncio.sleep(61)  # of virtual time

    assert "Nobody allowed or denied member.kick in time" in await told(group)


async def test_an_action_that_is_allowed_and_one_that_is_not_are_told_once_each() -> None:
    group = await Group.open({"message.send": "allow"})
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "hi"})
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("done")
    await group.world.rest()

    trail = await told(group)

    assert trail.count("It asked for message.send, which its policy allows.") == 1
    assert trail.count("member.kick") == 1
    assert "asked for platform_action on 'member.kick' and was refused: denied" in trail


async def test_a_message_that_came_leads_to_its_trail_and_so_does_the_word_that_answers_a_decision() -> None:
    group = await Group.open({"member.kick": ASK})
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("I asked")
    await group.world.rest()
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    trails = Explanations(group.world.journal, SystemClock())

    [word] = [row for row in group.rows(OUTBOX) if "Approved." in str(row)]
    [event] = await trails.find_events(word["platform_message_id"])
    assert event["input_summary"] == f"approve {group.keyword}"
    assert "Its sender was told: Approved." in " ".join(step.text for step in (await trails.explain(event)).steps)
    assert event["subject_id"]
    assert event in await trails.find_events(event["subject_id"])

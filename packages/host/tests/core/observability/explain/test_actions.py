"""An explanation names the actions that a run requested and who allowed or denied them."""

import asyncio
from typing import Any

import pytest

from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import EVENTS, OUTBOX
from parlour.core.system import SystemClock

from ...approvals.approval_support import ASK, BOSS, Group


async def explanation_text(group: Group) -> str:
    [event] = [row for row in group.rows(EVENTS) if row["event_type"] == "message.received" and not _is_decision(row)]
    found = await Explanations(group.world.journal, SystemClock()).explain(event)
    return " ".join(step.text for step in found.steps)


def _is_decision(event: Any) -> bool:
    return str(event["input_summary"]).startswith(("approve", "deny"))


@pytest.mark.parametrize(
    ("word", "sentence"),
    [("approve", ". boss allowed member.kick."), ("deny", ". boss denied member.kick: she is kind.")],
)
async def test_explanation_names_the_decider_also_after_the_run(word: str, sentence: str) -> None:
    group = await Group.open({"member.kick": ASK})
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("I asked")
    await group.world.rest()
    assert "It asked for member.kick, which a person has to allow." in await explanation_text(group)

    await group.say(f"{word} {group.keyword}" + (" she is kind" if word == "deny" else ""), BOSS)
    await group.calm()

    assert sentence in await explanation_text(group)


async def test_explanation_mentions_an_expired_request() -> None:
    group = await Group.open({"member.kick": {**ASK, "seconds": 60}})
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("I asked")
    await group.world.rest()

    await asyncio.sleep(61)  # of virtual time

    assert "Nobody allowed or denied member.kick in time" in await explanation_text(group)


async def test_allowed_and_denied_actions_are_each_mentioned_once() -> None:
    group = await Group.open({"message.send": "allow"})
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "hi"})
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.answer("done")
    await group.world.rest()

    trail = await explanation_text(group)

    assert trail.count("It asked for message.send, which its policy allows.") == 1
    assert trail.count("member.kick") == 1
    assert "asked for platform_action on 'member.kick' and was refused: denied" in trail


async def test_events_are_found_by_message_id_and_by_the_id_of_the_confirmation() -> None:
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

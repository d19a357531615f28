"""`parlour why` tells what a message policy decided: messages that were limited, filtered or gathered."""

from typing import Any

import pytest

from parlour.core.observability.explain.explanations import Explanations
from parlour.core.store.tables import EVENTS, OUTCOMES, RUNS

from ..support import World, make_agent

MASK = {"use": "words", "config": {"words": ["rude"]}, "on": "mask"}
BLOCK = {**MASK, "on": "block"}


async def explain(policy: dict[str, Any], *texts: str) -> tuple[str, str]:
    """Returns the outcome and the trail of the last of these messages, which come in quick succession."""
    world = await World.open(make_agent(message_policy=policy), echo=True)
    for text in texts:
        await world.say(text)
    await world.rest()
    event = world.rows(EVENTS)[-1]
    explanation = await Explanations(world.journal, world.clock).explain(event)
    [outcome] = world.rows(OUTCOMES, event_seq=event["seq"])
    trail = " ".join(step.text for step in explanation.steps)
    for run in world.rows(RUNS):
        trail = trail.replace(run["run_id"], "RUN")
    return outcome["outcome"], trail


@pytest.mark.parametrize(
    ("policy", "texts", "outcome", "sentence"),
    [
        (
            {"limits": [{"count": 1, "window": "day"}]},
            ("one", "two"),
            "limited",
            "1 messages per sender and day were answered",
        ),
        ({"filters": {"input": [BLOCK]}}, ("a rude word",), "refused", "input filter 1 (words) blocks it"),
        ({"filters": {"input": [MASK]}}, ("a rude word",), "answered", "Input filter 1 (words) masked words."),
        ({"gather": {"seconds": 1}}, ("one", "two"), "answered", "It was collected into run RUN."),
    ],
    ids=["limited", "refused", "masked", "gathered"],
)
async def test_trail_says_what_the_policy_decided(
    policy: dict[str, Any], texts: tuple[str, ...], outcome: str, sentence: str
) -> None:
    found, trail = await explain(policy, *texts)
    assert found == outcome
    assert sentence in trail

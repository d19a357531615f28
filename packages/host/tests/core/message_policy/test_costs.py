"""What a message policy costs: no further commit, and nothing at all for an agent without one."""

from typing import Any

from ..support import World, make_agent

WORDS = {"use": "words", "config": {"words": ["rude"]}, "on": "mask"}
EVERYTHING: dict[str, Any] = {
    "wake": {"ignore": {"prefixes": ["#"], "regexes": ["^ignored"]}, "access": {"entries": ["user:banned"]}},
    "limits": [{"count": 9, "window": "day"}, {"per": "chat", "count": 9, "kind": "sliding"}],
    "filters": {"input": [WORDS], "output": [WORDS]},
    "context": {"quote": "ignore"},
    "reply": {"mention_sender": True},
    "long_text": {"over": 5000, "as": "file"},
}


async def units(policy: dict[str, Any], text: str) -> list[str]:
    """Returns the units that a message of a group takes from its arrival to its reply."""
    world = await World.open(make_agent(message_policy=policy), echo=True)
    world.journal.units.clear()
    await world.say(text, surface="platform", data={"chat_type": "group", "chat_id": "7"})
    await world.rest()
    return world.journal.units


async def test_all_checkpoints_together_need_no_further_commit() -> None:
    assert await units(EVERYTHING, "hello") == await units({}, "hello")


async def test_message_that_is_filtered_needs_the_commits_of_a_message_that_waits_for_its_turn() -> None:
    taken = await units({"filters": EVERYTHING["filters"]}, "a rude word")
    assert taken == [name for each in await units({}, "hello") for name in _apart(each)]


def _apart(name: str) -> tuple[str, ...]:
    """Returns the units of a start that is not part of the unit of its event."""
    return ("event.accept", "run.open") if name == "event.begin" else (name,)

"""Chat commands that answer questions, their prefixes, and the roles that may use them."""

from dataclasses import replace
from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.model.command_rules import CommandRules
from parlour.core.model.event import Participant
from parlour.core.store.tables import OUTBOX, OUTCOMES, RUNS

from ..support import World, make_agent, message

GROUP = {"surface": "platform", "data": {"chat_type": "group", "chat_id": "7", "mentions_bot": True}}
DAY = {"limits": [{"per": "sender", "count": 2, "window": "day"}]}


def answers(world: World) -> list[str]:
    rows = [loads(row["payload"])["message"] for row in world.rows(OUTBOX)]
    return [row["content"] for row in rows if "control" in row.get("metadata", {})]


async def ask(world: World, text: str, **fields: Any) -> str:
    before = len(answers(world))
    await world.say(text, **fields)
    await world.rest()
    new = answers(world)[before:]
    return new[0] if new else ""


async def test_help_lists_the_commands_with_the_prefix_of_the_workspace() -> None:
    world = await World.open(echo=True)
    assert (await ask(world, "/help")).splitlines()[:2] == [
        "/help: Lists the commands",
        "/new: Begins a new conversation in this chat",
    ]
    world.core.command_rules.change(["!", "/"], [])
    assert (await ask(world, "!help")).startswith("!help: ")
    assert world.rows(RUNS) == []


async def test_agent_and_model_are_told() -> None:
    world = await World.open(make_agent(description="Knows everything."))
    assert await ask(world, "/agent") == "agent answers here.\nKnows everything."
    assert await ask(world, "/model") == "It uses no model of this Host."


async def test_usage_tells_what_is_left_of_a_limit() -> None:
    world = await World.open(make_agent(message_policy=DAY), echo=True)
    assert (await ask(world, "/usage")).startswith("2 of 2 messages are left for you.")
    await world.say("hi")
    await world.rest()
    assert await ask(world, "/usage") == "\n".join(
        ["1 of 2 messages are left for you.", "This conversation has used 0 tokens in 1 answers."]
    )


async def test_why_tells_what_became_of_the_senders_last_message() -> None:
    world = await World.open(make_agent(message_policy=DAY), echo=True)
    assert await ask(world, "/why") == "I know of no message of yours before this one."
    for _ in range(3):
        await world.say("hi")
        await world.rest()
    told = await ask(world, "/why")
    assert "2 messages per sender and day were answered" in told
    assert "2 messages per sender and day were answered" in await ask(world, "/why")
    assert "/why" not in told


async def test_commands_of_admins_are_refused_to_members_of_a_group() -> None:
    world = await World.open(echo=True)
    world.core.command_rules.change(["/"], ["why:admin", "/new:admin"])
    refusal = "Only an owner or admin of this group can use that."
    member, admin = (Participant("user", name, name, {"role": name}) for name in ("member", "admin"))
    assert await ask(world, "/why", **GROUP, actor="x") == refusal
    await world.core.gateway.ingest(_by(member, "/new"))
    await world.rest()
    assert answers(world)[-1] == refusal
    await world.core.gateway.ingest(_by(admin, "/why"))
    await world.rest()
    assert answers(world)[-1] == "I know of no message of yours before this one."
    assert "/why" not in await ask(world, "/help", **GROUP)
    assert await ask(world, "/why", surface="platform", data={"chat_type": "private", "chat_id": "1"}) != refusal


@pytest.mark.parametrize(
    ("role", "sender", "refusal"),
    [
        ("everyone", "member", ""),
        ("admin", "owner", ""),
        ("owner", "owner", ""),
        ("owner", "admin", "Only the owner of this group can use that."),
        ("off", "owner", "That command is turned off here."),
    ],
)
async def test_each_command_has_a_role(role: str, sender: str, refusal: str) -> None:
    world = await World.open(echo=True)
    world.core.command_rules.change(["/"], [f"agent:{role}"])
    await world.core.gateway.ingest(_by(Participant("user", "x", "x", {"role": sender}), "/agent"))
    await world.rest()
    assert (answers(world)[-1] == refusal) == bool(refusal)


@pytest.mark.parametrize("text", ["/helpless", "/ help", "help", "/why not", "//help", "/"])
async def test_other_texts_are_messages(text: str) -> None:
    world = await World.open(echo=True)
    await world.say(text)
    await world.rest()
    assert [row["outcome"] for row in world.rows(OUTCOMES)] == ["answered"]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("/a", ("a", "")),
        ("！a b  c", ("a", "b  c")),
        ("!", ("", "")),
        ("a", ("", "")),
        ("/ a", ("", "")),
        ("", ("", "")),
    ],
)
def test_command_is_the_word_behind_a_prefix(text: str, parsed: tuple[str, str]) -> None:
    assert CommandRules(["/", "!", "！"]).parse(text) == parsed


def _by(sender: Participant, text: str) -> Any:
    return replace(message(text, **GROUP), actor=sender)

"""However a run names another place than its event's, it needs a permission of its own for it."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.platforms.manifest import ActionDeclaration
from parlour.core.store.tables import OUTBOX

from ..support import PuppetRun
from .support import Group

HERE = {"*": "allow"}
FOREIGN = "424242"


def shout(text: str = "hey", **params: Any) -> dict[str, Any]:
    return {"action": "shout", "params": {"text": text, **params}}


async def denied(group: Group, run: PuppetRun, action: str, target: Any, payload: Any) -> bool:
    """As an action elsewhere, which only a pattern that says so allows."""
    outcome = await group.ask(run, action, target, payload)
    return bool(outcome["status"] == "denied")


async def account_wide() -> Group:
    """On a platform whose ids of messages don't tell their chat."""
    return await Group.open(HERE, "*", "elsewhere/*", declared={"message_ids": "account"})


async def test_an_action_of_the_platforms_own_is_at_home_in_the_events_chat() -> None:
    group = await Group.open(HERE, "*", "elsewhere/*")
    run = await group.run()
    for payload in (shout(), shout(chat_id="7")):
        assert (await group.ask(run, "platform.call", None, payload))["status"] == "done"
    assert len(group.done("shout")) == 2


async def test_an_action_of_the_platforms_own_that_names_another_chat_is_elsewhere() -> None:
    group = await Group.open(HERE, "*", "elsewhere/*")
    assert await denied(group, await group.run(), "platform.call", None, shout(chat_id="8"))
    unpermitted = await Group.open(HERE, "*")
    with pytest.raises(CallRejected, match=r"elsewhere/platform\.call\.shout"):
        await unpermitted.ask(await unpermitted.run(), "platform.call", None, shout(chat_id="8"))
    allowed = await Group.open({"elsewhere/platform.call.shout": "allow"}, "elsewhere/platform.call")
    assert (await allowed.ask(await allowed.run(), "platform.call", None, shout(chat_id="8")))["status"] == "done"
    assert group.done("shout") == unpermitted.done("shout") == []


@pytest.mark.parametrize(("read_only", "at_home"), [(True, True), (False, False)])
async def test_an_action_that_tells_no_place_is_at_home_only_if_it_changes_nothing(
    read_only: bool, at_home: bool
) -> None:
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
    placeless = ActionDeclaration(description="Says it loudly.", parameters=parameters, read_only=read_only)
    group = await Group.open(HERE, "*", "elsewhere/*", declared={"actions": {"shout": placeless}})
    assert await denied(group, await group.run(), "platform.call", None, shout()) is not at_home


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("message.delete", {}),
        ("message.react", {"reaction": "ok"}),
        ("message.forward", {"to_chat_type": "group", "to_chat_id": "7"}),
    ],
)
async def test_a_message_that_nobody_knows_here_may_be_another_chats(action: str, payload: dict[str, Any]) -> None:
    group = await account_wide()
    run = await group.run()
    assert await denied(group, run, action, {"message_id": FOREIGN}, payload)
    assert await denied(group, run, action, None, {**payload, "message_id": FOREIGN})
    assert group.world.platform.calls == []


async def test_a_message_that_was_heard_or_said_here_is_this_chats() -> None:
    group = await account_wide()
    await group.run("an earlier one")
    [earlier] = [loads(event["body"])["data"]["message_id"] for event in group.events("message.received")]
    group.world.plugins.runs[0].answer("an answer")
    await group.world.rest()
    said = next(row["platform_message_id"] for row in group.rows(OUTBOX))
    run = await group.run()
    assert (await group.ask(run, "message.react", {"message_id": said}, {"reaction": "ok"}))["status"] == "done"
    forwarded = {"to_chat_type": "group", "to_chat_id": "7"}
    with pytest.raises(CallRejected, match=f"there is no message '{earlier}'"):  # the fake platform keeps only its own
        await group.ask(run, "message.forward", {"message_id": earlier}, forwarded)


async def test_a_message_of_another_chat_is_not_this_chats_though_the_host_knows_it() -> None:
    group = await account_wide()
    await group.say("over there", chat_id="8")
    there = await group.world.plugins.next_run()
    there.answer("there")
    await group.world.rest()
    said = next(row["platform_message_id"] for row in group.rows(OUTBOX))
    assert await denied(group, await group.run(), "message.delete", {"message_id": said}, {})


@pytest.mark.parametrize(
    "component",
    [{"type": "Quote", "id": FOREIGN}, {"type": "Forward", "nodes": [{"message_id": FOREIGN}]}],
    ids=["quoted", "forwarded"],
)
async def test_a_chain_shows_no_message_of_another_chat(component: dict[str, Any]) -> None:
    group = await account_wide()
    run = await group.run()
    with pytest.raises(CallRejected, match=f"message {FOREIGN} is not known in this chat"):
        await group.ask(run, "message.send", None, {"chain": [component, {"type": "Plain", "text": "see"}]})
    assert group.world.platform.calls == []


async def test_where_ids_tell_their_chat_any_message_of_it_may_be_named() -> None:
    group = await Group.open(HERE)
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "first"})
    known = group.world.platform.shown[0].message_id
    assert (await group.ask(run, "message.delete", {"message_id": known}))["status"] == "done"

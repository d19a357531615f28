"""An action on another target than the chat of its event needs its own permission."""

from typing import Any

import pytest

from parlour.core.encoding import loads
from parlour.core.errors import CallRejected
from parlour.core.platforms.manifest import ActionDeclaration
from parlour.core.store.tables import OUTBOX

from ..support import PuppetRun
from .approval_support import Group

ALLOW_HERE = {"*": "allow"}
FOREIGN = "424242"


def shout(text: str = "hey", **params: Any) -> dict[str, Any]:
    return {"action": "shout", "params": {"text": text, **params}}


async def is_denied(group: Group, run: PuppetRun, action: str, target: Any, payload: Any) -> bool:
    """Returns whether the action was denied, as actions elsewhere are without their own pattern."""
    outcome = await group.ask(run, action, target, payload)
    return bool(outcome["status"] == "denied")


async def account_wide() -> Group:
    """Opens a group on a platform whose message ids are unique per account."""
    return await Group.open(ALLOW_HERE, "*", "elsewhere/*", declared={"message_ids": "account"})


async def test_platform_call_in_the_chat_of_the_event_is_allowed() -> None:
    group = await Group.open(ALLOW_HERE, "*", "elsewhere/*")
    run = await group.run()
    for payload in (shout(), shout(chat_id="7")):
        assert (await group.ask(run, "platform.call", None, payload))["status"] == "done"
    assert len(group.done("shout")) == 2


async def test_platform_call_to_another_chat_needs_the_elsewhere_permission() -> None:
    group = await Group.open(ALLOW_HERE, "*", "elsewhere/*")
    assert await is_denied(group, await group.run(), "platform.call", None, shout(chat_id="8"))
    unpermitted = await Group.open(ALLOW_HERE, "*")
    with pytest.raises(CallRejected, match=r"elsewhere/platform\.call\.shout"):
        await unpermitted.ask(await unpermitted.run(), "platform.call", None, shout(chat_id="8"))
    allowed = await Group.open({"elsewhere/platform.call.shout": "allow"}, "elsewhere/platform.call")
    assert (await allowed.ask(await allowed.run(), "platform.call", None, shout(chat_id="8")))["status"] == "done"
    assert group.done("shout") == unpermitted.done("shout") == []


@pytest.mark.parametrize(("read_only", "at_home"), [(True, True), (False, False)])
async def test_platform_call_without_a_chat_is_allowed_only_if_read_only(read_only: bool, at_home: bool) -> None:
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}
    without_chat = ActionDeclaration(description="Says it loudly.", parameters=parameters, read_only=read_only)
    group = await Group.open(ALLOW_HERE, "*", "elsewhere/*", declared={"actions": {"shout": without_chat}})
    assert await is_denied(group, await group.run(), "platform.call", None, shout()) is not at_home


@pytest.mark.parametrize(
    ("action", "payload"),
    [
        ("message.delete", {}),
        ("message.react", {"reaction": "ok"}),
        ("message.forward", {"to_chat_type": "group", "to_chat_id": "7"}),
    ],
)
async def test_unknown_message_is_treated_as_of_another_chat(action: str, payload: dict[str, Any]) -> None:
    group = await account_wide()
    run = await group.run()
    assert await is_denied(group, run, action, {"message_id": FOREIGN}, payload)
    assert await is_denied(group, run, action, None, {**payload, "message_id": FOREIGN})
    assert group.world.platform.calls == []


async def test_known_message_of_the_chat_may_be_used() -> None:
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


async def test_message_of_another_chat_is_denied_though_it_is_known() -> None:
    group = await account_wide()
    await group.say("over there", chat_id="8")
    other_run = await group.world.plugins.next_run()
    other_run.answer("there")
    await group.world.rest()
    said = next(row["platform_message_id"] for row in group.rows(OUTBOX))
    assert await is_denied(group, await group.run(), "message.delete", {"message_id": said}, {})


@pytest.mark.parametrize(
    "component",
    [{"type": "Quote", "id": FOREIGN}, {"type": "Forward", "nodes": [{"message_id": FOREIGN}]}],
    ids=["quoted", "forwarded"],
)
async def test_chain_cannot_quote_or_forward_an_unknown_message(component: dict[str, Any]) -> None:
    group = await account_wide()
    run = await group.run()
    with pytest.raises(CallRejected, match=f"message {FOREIGN} is not known in this chat"):
        await group.ask(run, "message.send", None, {"chain": [component, {"type": "Plain", "text": "see"}]})
    assert group.world.platform.calls == []


async def test_any_message_may_be_named_if_ids_are_unique_per_chat() -> None:
    group = await Group.open(ALLOW_HERE)
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "first"})
    known = group.world.platform.shown[0].message_id
    assert (await group.ask(run, "message.delete", {"message_id": known}))["status"] == "done"

"""A walk over every way to name another target than the event's own chat: each is refused, or was granted by name."""

from typing import Any

import pytest

from parlour.core.config.routes import Route
from parlour.core.encoding import dumps
from parlour.core.errors import CallRejected
from parlour.core.model.providers import ProviderFailed
from parlour.core.plugin_hooks.replies import PluginReplies
from parlour.core.webhooks.client import WebhookHttpRequest, WebhookHttpResponse
from parlour_sdk.protocol.actions import ACTION_NAMES
from parlour_sdk.protocol.people import User
from parlour_sdk.protocol.platform_events import FriendRequestReceived

from ..delivery.platform_support import BOT, PlatformWorld, chat_manifest
from ..support import DISCOVERY, PLUGIN, PuppetRun, make_agent, message, until
from ..webhooks.test_webhooks import CONFIG

HERE = "here"
TEXT = {"text": "psst"}
PAYLOADS: dict[str, dict[str, Any]] = {
    "message.send": TEXT,
    "message.reply": TEXT,
    "message.edit": {**TEXT, "message_id": "m"},
    "message.delete": {"message_id": "m"},
    "message.forward": {"message_id": "m", "to_chat_type": "group", "to_chat_id": "there"},
    "message.react": {"message_id": "m", "reaction": "+"},
    "group.rename": {"name": "mine"},
    "group.leave": {},
    "member.mute": {"user_id": "u"},
    "member.unmute": {"user_id": "u"},
    "member.kick": {"user_id": "u"},
    "friend_request.answer": {"request_id": "another", "approve": True},
    "group_invite.answer": {"request_id": "another", "approve": True},
    "platform.call": {"action": "shout", "params": {"text": "psst"}},
}
WAYS: dict[str, dict[str, str]] = {
    "chat": {"chat_id": "there"},
    "private chat": {"chat_type": "private", "chat_id": "there"},
    "group": {"group_id": "there"},
    "account": {"account": "another"},
    "thread": {"thread_id": "another"},
    "bot": {"bot_id": "another"},
}


def test_the_walk_knows_every_action() -> None:
    assert PAYLOADS.keys() == set(ACTION_NAMES)


async def opened(*elsewhere: str) -> PlatformWorld:
    """A runner that may do everything in its own chat, and elsewhere what is named."""
    manifest = {
        **DISCOVERY["manifest"],  # type: ignore[dict-item]
        "capabilities": {"platform_actions": True},
        "permissions": {"platform_actions": ["*", *elsewhere]},
    }
    policy = dict.fromkeys(("*", *elsewhere), "allow")
    agent = make_agent(approval_policy=policy, event_types=("*",))
    return await PlatformWorld.open(chat_manifest(), agent, discovery={**DISCOVERY, "manifest": manifest})


async def running(world: PlatformWorld) -> PuppetRun:
    await world.platform.say("hello", HERE, chat_type="group", addresses_bot=True)
    return await world.plugins.next_run()


async def asked(world: PlatformWorld, run: PuppetRun, action: str, **arguments: Any) -> dict[str, Any]:
    request = {"run_id": run.run_id, "call_id": "call", "action": action, **arguments}
    return await world.core.gate.call(PLUGIN, "platform_action", request)


def done(world: PlatformWorld) -> list[str]:
    """What the platform was asked to do; signs of typing are none of it."""
    return [api for api, _ in world.platform.calls if api not in ("send_typing", "find_message")]


@pytest.mark.parametrize("action", PAYLOADS)
async def test_a_run_can_name_no_other_target_without_a_permission_for_elsewhere(action: str) -> None:
    world = await opened()
    run = await running(world)
    for target in WAYS.values():
        with pytest.raises(CallRejected):
            await asked(world, run, action, target=target, payload=PAYLOADS[action])
    assert done(world) == []
    run.answer("done")
    await world.rest()


@pytest.mark.parametrize("way", WAYS)
async def test_an_action_as_a_result_is_held_to_the_same(way: str) -> None:
    world = await opened()
    run = await running(world)
    wanted = {"action": "message.send", "target": WAYS[way], "payload": TEXT}
    run.send(run.result("action.requested", wanted), run.completed("only this"), run.finished())
    await world.rest()
    assert world.platform.texts(HERE) == ["only this"]
    assert {each.chat_id for each in world.platform.shown} == {HERE}


async def test_what_is_granted_elsewhere_by_name_is_done_and_nothing_beside_it() -> None:
    world = await opened("elsewhere/message.send")
    run = await running(world)
    there = {"chat_type": "private", "chat_id": "there"}
    told = await asked(world, run, "message.send", target=there, payload=TEXT)
    assert told["status"] == "done"
    assert world.platform.texts("there") == ["psst"]
    for action in ("message.delete", "message.edit", "message.react"):
        with pytest.raises(CallRejected):
            await asked(world, run, action, target=there, payload=PAYLOADS[action])
    run.answer("done")
    await world.rest()


async def test_a_request_that_is_not_the_events_own_is_elsewhere() -> None:
    world = await opened()
    request = FriendRequestReceived(event_id="f", timestamp=1, request_id="own", user=User(id="ann", nickname="Ann"))
    await world.platform.happen(request)
    run = await world.plugins.next_run()
    with pytest.raises(CallRejected):
        await asked(world, run, "friend_request.answer", payload={"request_id": "another", "approve": True})
    assert (await asked(world, run, "friend_request.answer", payload={"approve": True}))["status"] == "done"
    assert done(world) == ["answer_friend_request"]
    run.answer("done")
    await world.rest()


async def test_a_run_can_not_call_the_platform_beside_its_actions() -> None:
    world = await opened()
    run = await running(world)
    chain = [{"type": "Plain", "text": "psst"}]
    request = {"run_id": run.run_id, "call_id": "call", "bot_id": BOT, "target_type": "group", "target_id": "there"}
    with pytest.raises(CallRejected):
        await world.core.gate.call(PLUGIN, "send_message", {**request, "chain": chain})
    with pytest.raises(CallRejected):
        await world.core.gate.call(PLUGIN, "send_message", {**request, "run_id": None, "chain": chain})
    assert done(world) == []
    run.answer("done")
    await world.rest()


@pytest.mark.parametrize("action", ["message.send", "message.reply", "message.edit", "group.leave"])
async def test_what_an_api_key_says_of_its_event_names_nobody_on_a_platform(action: str) -> None:
    world = await opened()
    data = {"chat_type": "group", "chat_id": "there", "message_id": "m"}
    event = message("hi", surface="api", bot_id=BOT, agent_id="agent", data=data, principal="key:1")
    await world.core.gateway.ingest(event)
    run = await world.plugins.next_run()
    with pytest.raises(CallRejected):
        await asked(world, run, action, payload=PAYLOADS[action])
    run.answer("only to the key")
    await world.rest()
    assert done(world) == []
    with pytest.raises(ProviderFailed):
        await PluginReplies(world.journal).prepare(BOT, event.event_id, [], False, None)


class Hook:
    def __init__(self, *actions: dict[str, Any]) -> None:
        self._body = dumps({"actions": actions}).encode()

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        return WebhookHttpResponse(200, self._body)


THERE = {"target_type": "group", "target_id": "there"}
WANTED: dict[str, dict[str, Any]] = {
    "send_message": {**THERE, **TEXT},
    "reply": {"chat_type": "group", "chat_id": "there", **TEXT},
    "edit_message": {"chat_type": "group", "chat_id": "there", "message_id": "m", **TEXT},
    "delete_message": {"chat_type": "group", "chat_id": "there", "message_id": "m"},
    "answer_friend_request": {"request_id": "another", "approve": True},
    "answer_group_invite": {"request_id": "another", "approve": True},
    "call_platform_api": {"action": "shout", "params": {"text": "psst"}},
}
NAMING = {"send_message": "send_message", "call_platform_api": "shout"}
"""To list these is to let a webhook say where; what each is to the platform."""


async def hooked(kind: str, params: dict[str, Any], allowed: Any) -> list[str]:
    hook = Hook({"type": kind, "params": params})
    world = await PlatformWorld.open(chat_manifest(), hook_sender=hook)
    config = {**CONFIG, "sealed_secret": "", "response_actions": allowed}
    await world.core.routes.replace(BOT, [Route("*", "webhook", config)])
    await world.platform.say("hello", HERE, chat_type="group")
    await until(lambda: not len(world.core.webhooks) and not len(world.core.lanes))
    await world.rest()
    return done(world)


@pytest.mark.parametrize("allowed", [False, True, []], ids=["nothing", "to reply", "an empty list"])
@pytest.mark.parametrize("kind", WANTED)
async def test_a_webhook_names_no_target_by_plain_permission(kind: str, allowed: Any) -> None:
    assert await hooked(kind, WANTED[kind], allowed) == []


@pytest.mark.parametrize("kind", WANTED)
async def test_a_webhook_says_where_only_by_actions_that_its_route_lists_and_that_name_a_target(kind: str) -> None:
    assert await hooked(kind, WANTED[kind], [kind]) == ([NAMING[kind]] if kind in NAMING else [])


@pytest.mark.parametrize("kind", WANTED)
async def test_a_webhook_acts_through_no_other_bot(kind: str) -> None:
    assert await hooked(kind, {**WANTED[kind], "bot_id": "another"}, [kind]) == []


async def test_a_webhook_that_may_reply_replies_where_the_event_came_from() -> None:
    assert await hooked("reply", TEXT, True) == ["send_message"]
    assert await hooked("delete_message", {}, ["delete_message"]) == ["delete_message"]

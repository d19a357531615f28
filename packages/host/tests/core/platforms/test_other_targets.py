"""Every way to name another target than the chat of the event is refused or needs its own permission."""

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

OWN_CHAT = "here"
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
OTHER_TARGETS: dict[str, dict[str, str]] = {
    "chat": {"chat_id": "there"},
    "private chat": {"chat_type": "private", "chat_id": "there"},
    "group": {"group_id": "there"},
    "account": {"account": "another"},
    "thread": {"thread_id": "another"},
    "bot": {"bot_id": "another"},
}


def test_payloads_cover_every_action() -> None:
    assert PAYLOADS.keys() == set(ACTION_NAMES)


async def open_world(*elsewhere: str) -> PlatformWorld:
    """Opens a world whose runner may do everything in its own chat, and the named actions elsewhere."""
    manifest = {
        **DISCOVERY["manifest"],  # type: ignore[dict-item]
        "capabilities": {"platform_actions": True},
        "permissions": {"platform_actions": ["*", *elsewhere]},
    }
    policy = dict.fromkeys(("*", *elsewhere), "allow")
    agent = make_agent(approval_policy=policy, event_types=("*",))
    return await PlatformWorld.open(chat_manifest(), agent, discovery={**DISCOVERY, "manifest": manifest})


async def start_run(world: PlatformWorld) -> PuppetRun:
    await world.platform.say("hello", OWN_CHAT, chat_type="group", addresses_bot=True)
    return await world.plugins.next_run()


async def request_action(world: PlatformWorld, run: PuppetRun, action: str, **arguments: Any) -> dict[str, Any]:
    request = {"run_id": run.run_id, "call_id": "call", "action": action, **arguments}
    return await world.core.gate.call(PLUGIN, "platform_action", request)


def platform_calls(world: PlatformWorld) -> list[str]:
    """Returns the API calls that reached the platform, without typing indicators and searches."""
    return [api for api, _ in world.platform.calls if api not in ("send_typing", "find_message")]


@pytest.mark.parametrize("action", PAYLOADS)
async def test_run_cannot_name_another_target_without_the_elsewhere_permission(action: str) -> None:
    world = await open_world()
    run = await start_run(world)
    for target in OTHER_TARGETS.values():
        with pytest.raises(CallRejected):
            await request_action(world, run, action, target=target, payload=PAYLOADS[action])
    assert platform_calls(world) == []
    run.answer("done")
    await world.rest()


@pytest.mark.parametrize("target_kind", OTHER_TARGETS)
async def test_requested_action_cannot_name_another_target(target_kind: str) -> None:
    world = await open_world()
    run = await start_run(world)
    wanted = {"action": "message.send", "target": OTHER_TARGETS[target_kind], "payload": TEXT}
    run.send(run.result("action.requested", wanted), run.completed("only this"), run.finished())
    await world.rest()
    assert world.platform.texts(OWN_CHAT) == ["only this"]
    assert {each.chat_id for each in world.platform.shown} == {OWN_CHAT}


async def test_action_granted_elsewhere_is_executed_and_others_refused() -> None:
    world = await open_world("elsewhere/message.send")
    run = await start_run(world)
    other_chat = {"chat_type": "private", "chat_id": "there"}
    outcome = await request_action(world, run, "message.send", target=other_chat, payload=TEXT)
    assert outcome["status"] == "done"
    assert world.platform.texts("there") == ["psst"]
    for action in ("message.delete", "message.edit", "message.react"):
        with pytest.raises(CallRejected):
            await request_action(world, run, action, target=other_chat, payload=PAYLOADS[action])
    run.answer("done")
    await world.rest()


async def test_request_of_another_event_counts_as_elsewhere() -> None:
    world = await open_world()
    request = FriendRequestReceived(event_id="f", timestamp=1, request_id="own", user=User(id="ann", nickname="Ann"))
    await world.platform.happen(request)
    run = await world.plugins.next_run()
    with pytest.raises(CallRejected):
        await request_action(world, run, "friend_request.answer", payload={"request_id": "another", "approve": True})
    assert (await request_action(world, run, "friend_request.answer", payload={"approve": True}))["status"] == "done"
    assert platform_calls(world) == ["answer_friend_request"]
    run.answer("done")
    await world.rest()


async def test_run_cannot_call_the_platform_api_directly() -> None:
    world = await open_world()
    run = await start_run(world)
    chain = [{"type": "Plain", "text": "psst"}]
    request = {"run_id": run.run_id, "call_id": "call", "bot_id": BOT, "target_type": "group", "target_id": "there"}
    with pytest.raises(CallRejected):
        await world.core.gate.call(PLUGIN, "send_message", {**request, "chain": chain})
    with pytest.raises(CallRejected):
        await world.core.gate.call(PLUGIN, "send_message", {**request, "run_id": None, "chain": chain})
    assert platform_calls(world) == []
    run.answer("done")
    await world.rest()


@pytest.mark.parametrize("action", ["message.send", "message.reply", "message.edit", "group.leave"])
async def test_data_of_an_api_event_names_no_platform_target(action: str) -> None:
    world = await open_world()
    data = {"chat_type": "group", "chat_id": "there", "message_id": "m"}
    event = message("hi", surface="api", bot_id=BOT, agent_id="agent", data=data, principal="key:1")
    await world.core.gateway.ingest(event)
    run = await world.plugins.next_run()
    with pytest.raises(CallRejected):
        await request_action(world, run, action, payload=PAYLOADS[action])
    run.answer("only to the key")
    await world.rest()
    assert platform_calls(world) == []
    with pytest.raises(ProviderFailed):
        await PluginReplies(world.journal, world.core.reply_policy).prepare(BOT, event.event_id, [], False, None)


class Hook:
    def __init__(self, *actions: dict[str, Any]) -> None:
        self._body = dumps({"actions": actions}).encode()

    async def send(self, request: WebhookHttpRequest) -> WebhookHttpResponse:
        return WebhookHttpResponse(200, self._body)


OTHER_TARGET = {"target_type": "group", "target_id": "there"}
ACTION_PARAMS: dict[str, dict[str, Any]] = {
    "send_message": {**OTHER_TARGET, **TEXT},
    "reply": {"chat_type": "group", "chat_id": "there", **TEXT},
    "edit_message": {"chat_type": "group", "chat_id": "there", "message_id": "m", **TEXT},
    "delete_message": {"chat_type": "group", "chat_id": "there", "message_id": "m"},
    "answer_friend_request": {"request_id": "another", "approve": True},
    "answer_group_invite": {"request_id": "another", "approve": True},
    "call_platform_api": {"action": "shout", "params": {"text": "psst"}},
}
TARGETED_APIS = {"send_message": "send_message", "call_platform_api": "shout"}
"""Actions that let a webhook name a target, with the API that they call."""


async def webhook_calls(kind: str, params: dict[str, Any], allowed: Any) -> list[str]:
    hook = Hook({"type": kind, "params": params})
    world = await PlatformWorld.open(chat_manifest(), hook_sender=hook)
    config = {**CONFIG, "sealed_secret": "", "response_actions": allowed}
    await world.core.routes.replace(BOT, [Route("*", "webhook", config)])
    await world.platform.say("hello", OWN_CHAT, chat_type="group")
    await until(lambda: not len(world.core.jobs) and not len(world.core.lanes))
    await world.rest()
    return platform_calls(world)


@pytest.mark.parametrize("allowed", [False, True, []], ids=["nothing", "to reply", "an empty list"])
@pytest.mark.parametrize("kind", ACTION_PARAMS)
async def test_webhook_cannot_name_a_target_without_a_listed_action(kind: str, allowed: Any) -> None:
    assert await webhook_calls(kind, ACTION_PARAMS[kind], allowed) == []


@pytest.mark.parametrize("kind", ACTION_PARAMS)
async def test_webhook_names_a_target_only_by_listed_actions_that_take_one(kind: str) -> None:
    assert await webhook_calls(kind, ACTION_PARAMS[kind], [kind]) == (
        [TARGETED_APIS[kind]] if kind in TARGETED_APIS else []
    )


@pytest.mark.parametrize("kind", ACTION_PARAMS)
async def test_webhook_cannot_use_another_bot(kind: str) -> None:
    assert await webhook_calls(kind, {**ACTION_PARAMS[kind], "bot_id": "another"}, [kind]) == []


async def test_webhook_replies_in_the_chat_of_the_event() -> None:
    assert await webhook_calls("reply", TEXT, True) == ["send_message"]
    assert await webhook_calls("delete_message", {}, ["delete_message"]) == ["delete_message"]

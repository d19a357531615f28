"""Platform actions are executed if permission, policy and adapter all allow them."""

from typing import Any

import pytest

from parlour.core.errors import CallRejected
from parlour.core.store.tables import RUNS

from .approval_support import Group

ALLOW = {"*": "allow", "elsewhere/*": "allow"}


@pytest.mark.parametrize(
    ("action", "target", "payload", "api", "arguments"),
    [
        ("message.send", None, {"text": "hi"}, "send_message", {"target_type": "group", "target_id": "7"}),
        ("message.delete", {"message_id": "in-1"}, None, "delete_message", {"message_id": "in-1"}),
        ("message.react", None, {"reaction": "ok"}, "react", {"message_id": "in-1", "reaction": "ok", "add": True}),
        ("group.rename", None, {"name": "New"}, "set_group_name", {"group_id": "7", "name": "New"}),
        ("group.leave", None, None, "leave_group", {"group_id": "7"}),
        ("member.mute", {"user_id": "eve"}, {"duration": 60}, "mute_member", {"user_id": "eve", "duration": 60}),
        ("member.unmute", {"user_id": "eve"}, None, "unmute_member", {"group_id": "7", "user_id": "eve"}),
        ("member.kick", {"user_id": "eve"}, None, "kick_member", {"group_id": "7", "user_id": "eve"}),
        ("platform.call", None, {"action": "shout", "params": {"text": "hey"}}, "shout", {"text": "hey"}),
    ],
)
async def test_allowed_action_is_executed_in_the_chat_of_the_event(
    action: str, target: Any, payload: Any, api: str, arguments: dict[str, Any]
) -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    known = group.world.platform.shown
    if api in ("delete_message", "react"):
        await group.ask(run, "message.send", None, {"text": "first"})
        arguments = {**arguments, "message_id": known[0].message_id}
        target = {"message_id": known[0].message_id}
        group.world.platform.calls.clear()
    outcome = await group.ask(run, action, target, payload)
    assert outcome["status"] == "done"
    [done] = group.done(api)
    assert {name: done.get(name) for name in arguments} == arguments


async def test_action_without_a_policy_is_denied_and_recorded() -> None:
    group = await Group.open({})
    run = await group.run()
    assert (await group.ask(run, "member.kick", {"user_id": "eve"}))["status"] == "denied"
    assert group.done("kick_member") == []
    denials = [row["code"] for row in group.audited("platform_action") if row["outcome"] == "denied"]
    assert denials == ["denied"]
    run.answer("sorry")
    await group.world.rest()
    assert len(group.ledger("action.decided")) == 1


async def test_action_without_permission_is_refused() -> None:
    group = await Group.open(ALLOW, "message.*")
    run = await group.run()
    with pytest.raises(CallRejected, match=r"member\.kick.*not granted") as refused:
        await group.ask(run, "member.kick", {"user_id": "eve"})
    assert refused.value.code == "unauthorized"
    assert group.done("kick_member") == []


async def test_action_that_the_adapter_does_not_declare_is_refused() -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    with pytest.raises(CallRejected, match="edit_message") as refused:
        await group.ask(run, "message.edit", {"message_id": "1"}, {"text": "x"})
    assert refused.value.code == "not_supported"
    with pytest.raises(CallRejected, match="'whisper'"):
        await group.ask(run, "platform.call", None, {"action": "whisper"})


@pytest.mark.parametrize(
    ("action", "target", "payload", "sentence"),
    [
        ("message.explode", None, None, "there is no 'message.explode'"),
        ("message.send", None, None, "needs text or chain"),
        ("message.send", None, {"text": " "}, "needs text or a chain"),
        ("message.send", {"colour": "red"}, {"text": "x"}, "target.colour: 'message.send' has no such thing"),
        ("message.send", {"user_id": "eve"}, {"text": "x"}, "target.user_id: 'message.send' has no such thing"),
        ("message.send", None, {"text": "x", "group_id": "8"}, "payload.group_id: 'message.send' has no such thing"),
        ("member.mute", {"user_id": "eve"}, {"duration": -5}, "payload.duration: seconds, and 0 for good"),
        ("message.send", {"chat_id": 7}, {"text": "x"}, "target.chat_id: must be a text"),
        ("message.send", None, {"chain": [{"type": "Plain"}]}, "payload.chain"),
        ("message.send", None, {"chain": [{"type": "Image", "path": "/etc/passwd"}]}, "path"),
        ("message.send", None, {"chain": [{"type": "Image", "url": "file:///etc/passwd"}]}, "http:// or https://"),
        ("message.send", None, {"chain": [{"type": "Image", "artifact_id": "nope"}]}, "there is no artifact"),
        ("message.send", None, {"chain": [{"type": "AtAll"}]}, "mention_everyone"),
        ("member.kick", None, None, "which member"),
        ("group.rename", None, {"name": 5}, "payload.name: must be of type str"),
        ("friend_request.answer", None, {"approve": True}, "which request"),
    ],
)
async def test_invalid_action_is_refused_with_its_field(action: str, target: Any, payload: Any, sentence: str) -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    with pytest.raises(CallRejected) as refused:
        await group.ask(run, action, target, payload)
    assert sentence in refused.value.message
    assert group.world.platform.calls == []


async def test_action_in_another_chat_needs_its_own_permission() -> None:
    target, payload = {"chat_type": "group", "chat_id": "8"}, {"text": "psst"}
    everything = await Group.open({"*": "allow"}, "*")
    with pytest.raises(CallRejected, match=r"elsewhere/message\.send"):
        await everything.ask(await everything.run(), "message.send", target, payload)
    unallowed = await Group.open({"*": "allow"}, "*", "elsewhere/*")
    assert (await unallowed.ask(await unallowed.run(), "message.send", target, payload))["status"] == "denied"
    allowed = await Group.open(ALLOW, "elsewhere/message.send")
    assert (await allowed.ask(await allowed.run(), "message.send", target, payload))["status"] == "done"
    assert allowed.texts("8") == ["psst"]
    assert everything.texts("8") == unallowed.texts("8") == []


async def test_mention_of_everyone_is_neutralized() -> None:
    group = await Group.open(ALLOW)
    await group.ask(await group.run(), "message.send", None, {"text": "@everyone up"})
    assert group.texts() == ["@\u200beveryone up"]


async def test_unanswered_action_is_not_repeated() -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    group.world.platform.lose_answer("kick_member")
    with pytest.raises(CallRejected, match="never repeated"):
        await group.ask(run, "member.kick", {"user_id": "eve"})
    assert len(group.done("kick_member")) == 1


async def test_run_with_effects_is_not_retried_after_a_crash() -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    await group.ask(run, "member.kick", {"user_id": "eve"})
    run.crash()
    await group.world.rest()
    assert len(group.world.plugins.runs) == 1
    assert len(group.done("kick_member")) == 1


async def test_requested_action_is_executed_also_as_last_result() -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    wanted = {"action": "member.kick", "target": {"user_id": "eve"}, "request_id": "r1"}
    run.send(run.result("action.requested", wanted), run.completed("Gone."), run.finished())
    await group.world.rest()
    assert [done["user_id"] for done in group.done("kick_member")] == ["eve"]
    assert group.texts() == ["Gone."]
    [row] = group.ledger("action.decided")
    assert '"r1"' in row["data"]
    assert group.rows(RUNS)[0]["effects"] == 1


async def test_refused_action_does_not_end_the_run() -> None:
    group = await Group.open({})
    run = await group.run()
    run.send(run.result("action.requested", {"action": "member.kick", "target": {"user_id": "eve"}}))
    run.send(run.result("action.requested", {"action": "nonsense"}))
    run.answer("well")
    await group.world.rest()
    assert group.texts() == ["well"]
    assert group.done("kick_member") == []
    assert len(group.ledger("action.decided")) == 2


async def test_action_on_an_offline_bot_returns_pending() -> None:
    group = await Group.open(ALLOW)
    run = await group.run()
    group.world.platform.cut()
    outcome = await group.ask(run, "member.kick", {"user_id": "eve"})
    assert outcome["status"] == "pending"
    group.world.platform.mend()
    await group.calm()
    assert len(group.done("kick_member")) == 1

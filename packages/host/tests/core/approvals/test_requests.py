"""Approval requests in a chat: their text, their chat and their time limit."""

import asyncio

import pytest

from parlour_sdk.protocol.platform_events import FriendRequestReceived

from ..support import message
from .approval_support import ASK, BOSS, EVE, OPERATOR, Group, request_kick


async def test_request_in_the_chat_says_how_to_decide() -> None:
    group, _ = await request_kick()
    await group.calm()
    [text] = group.texts()
    assert "member.kick" in text
    assert f"'approve {group.keyword}' or 'deny {group.keyword}' within 30 minutes" in text
    assert group.done("kick_member") == []


async def test_long_request_is_shortened_with_a_note() -> None:
    group = await Group.open({"*": ASK})
    run = await group.run()
    await group.ask(run, "message.send", None, {"text": "x" * 500 + " and then the end"})
    await group.ask(run, "message.send", None, {"text": "y" * 2000})
    await group.calm()
    [whole, cut] = group.texts()
    assert "and then the end" in whole
    assert "more characters, which are on the page of approvals)\nAsked by" in cut
    run.answer("asked")
    await group.world.rest()


async def test_expired_request_is_announced_and_cannot_be_decided() -> None:
    group, _ = await request_kick()
    await asyncio.sleep(1801)
    await group.calm()
    assert group.approval()["status"] == "expired"
    assert group.texts()[-1] == f"Nobody decided about {group.keyword} in time, so it was not done."
    await group.say(f"approve {group.keyword}", BOSS)
    await group.calm()
    assert "it is too late. Nobody had decided in time, so it was not done." in group.texts()[-1]
    assert group.done("kick_member") == []


async def test_request_appears_in_the_chat_of_the_policy() -> None:
    staff = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    group, _ = await request_kick({"member.*": {**ASK, "show_in": staff}})
    await group.calm()
    assert group.texts("7") == []
    assert len(group.texts("99")) == 1
    await group.say(f"approve {group.keyword}", BOSS, chat_id="99")
    await group.calm()
    assert len(group.done("kick_member")) == 1


async def test_request_without_a_chat_appears_at_the_fallback_target() -> None:
    fallback = {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}
    group = await Group.open(
        {"elsewhere/*": ASK},
        "elsewhere/*",
        event_types=("*",),
        delivery_policy={"fallback_target": fallback},
    )
    due = message("it is time", surface="schedule", event_type="schedule.triggered", bot_id="bot", principal="")
    await group.world.core.gateway.ingest(due)
    run = await group.world.plugins.next_run()
    await group.ask(run, "member.kick", {"user_id": "eve", "group_id": "7"})
    run.answer("it is asked")
    await group.calm()
    assert [text.split()[0] for text in group.texts("99")] == ["This", "it"]
    await group.say(f"approve {group.keyword}", BOSS, chat_id="99")
    await group.calm()
    assert len(group.done("kick_member")) == 1


@pytest.mark.parametrize("fallback", [{}, {"bot_id": "bot", "chat_type": "group", "chat_id": "99"}])
async def test_friend_request_is_never_shown_to_its_sender(fallback: dict[str, str]) -> None:
    group = await Group.open({"*": ASK}, event_types=("*",), delivery_policy={"fallback_target": fallback})
    wants = FriendRequestReceived(event_id="e1", timestamp=0, request_id="r1", user=EVE)
    await group.world.platform.happen(wants)
    run = await group.world.plugins.next_run()
    await group.ask(run, "friend_request.answer", None, {"approve": True})
    run.send(run.finished("silent"))
    run.end()
    await group.calm()
    assert len(group.texts("99")) == (1 if fallback else 0)
    await group.world.core.approvals.decide(group.approval()["approval_id"], "approve", OPERATOR)
    await group.calm()
    assert group.texts("eve") == []
    assert [each["request_id"] for each in group.done("answer_friend_request")] == ["r1"]


@pytest.mark.parametrize(
    ("seconds", "shown"), [(10, "10 seconds"), (60, "1 minute"), (119, "1 minute"), (120, "2 minutes")]
)
async def test_announced_time_limit_is_never_rounded_up(seconds: float, shown: str) -> None:
    group, _ = await request_kick({"member.*": {**ASK, "seconds": seconds}})
    await group.calm()
    assert f"within {shown}." in group.texts()[0]

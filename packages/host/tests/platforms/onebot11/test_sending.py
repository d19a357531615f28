"""A send is done, refused with a reason, or uncertain; the adapter never sends twice."""

import asyncio
import json
from typing import Any

import pytest
from websockets.asyncio.client import connect

from parlour.core.model.providers import ProviderFailed
from parlour.core.platforms.port import FileContent, PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms.onebot11 import connection
from parlour.testing.onebot_simulator import Simulator, native
from parlour_sdk.protocol.chain import (
    At,
    Component,
    File,
    Forward,
    ForwardNode,
    Image,
    MessageChain,
    Plain,
    Platform,
    Quote,
    Voice,
)
from parlour_sdk.protocol.platform_api import MessageResult

from .conftest import Bot, Reverse

HELLO: MessageChain = [Plain(text="hello")]


async def test_a_refusal_has_the_reason_of_the_platform(bot: Bot, joined: Reverse) -> None:
    await joined(bot, strict=True)
    with pytest.raises(PlatformRefused, match=r"the group 5 does not exist .* \(retcode 102\)") as refused:
        await bot.adapter.api().send_message("group", "5", HELLO)
    assert refused.value.permanent


@pytest.mark.parametrize(
    ("retcode", "wording", "sentence"),
    [
        (100, "", "a parameter is missing or wrong, or the operation failed (retcode 100)"),
        (1404, "no such thing", "it does not know this action – no such thing (retcode 1404)"),
        (404, "", "it does not know this action (retcode 404)"),
        ("1200", "not so", "not so (retcode 1200)"),
        ([], "", "it gave no reason; look at what it logs (retcode a list)"),
        ({}, "", "it gave no reason; look at what it logs (retcode an object)"),
        (4711, "", "it gave no reason; look at what it logs (retcode 4711)"),
    ],
)
async def test_a_retcode_becomes_a_readable_reason(
    retcode: Any, wording: str, sentence: str, bot: Bot, simulator: Simulator
) -> None:
    simulator.faults.refuse("send_private_msg", retcode, wording)
    with pytest.raises(PlatformRefused) as refused:
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert str(refused.value) == f"OneBot refused send_private_msg: {sentence}"


@pytest.mark.parametrize(
    ("retcode", "permanent"),
    [
        *((code, True) for code in (102, 404, 1400, 1401, 1403, 1404, "1400")),
        *((code, False) for code in (-1, 100, 103, 104, 200, 1200, 1500, 4711, "1200", [])),
    ],
)
async def test_a_refusal_is_permanent_only_if_a_retry_would_fail_too(
    retcode: Any, permanent: bool, bot: Bot, simulator: Simulator
) -> None:
    simulator.faults.refuse("send_private_msg", retcode, "not so")
    with pytest.raises(PlatformRefused) as refused:
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert (refused.value.permanent, refused.value.retry_after) == (permanent, None)


@pytest.mark.parametrize(
    ("retcode", "wording"), [(1429, ""), (429, ""), (201, ""), (1200, "发送频率过快"), (200, "too many")]
)
async def test_a_rate_limit_is_a_temporary_refusal(retcode: int, wording: str, bot: Bot, simulator: Simulator) -> None:
    simulator.faults.refuse("send_private_msg", retcode, wording, {"retry_after": 7})
    with pytest.raises(PlatformRefused) as refused:
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert (refused.value.retry_after, refused.value.permanent) == (7, False)


async def test_no_answer_is_uncertain(bot: Bot, simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.OneBotConnection.call, "__defaults__", (0.2,))
    simulator.faults.stay_silent("send_private_msg")
    with pytest.raises(PlatformUncertain, match="did not answer send_private_msg"):
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert len(simulator.sent()) == 1


async def test_a_cut_before_the_answer_is_uncertain(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.cut("send_private_msg")
    with pytest.raises(PlatformUncertain, match="cut before OneBot answered"):
        await bot.adapter.api().send_message("private", "7", HELLO)


async def test_a_timeout_inside_the_implementation_is_uncertain(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.refuse("send_private_msg", 1200, "Timeout: NTEvent sendMsg")
    with pytest.raises(PlatformUncertain):
        await bot.adapter.api().send_message("private", "7", HELLO)


async def send_with_answer(bot: Bot, answer: dict[str, Any]) -> MessageResult:
    """Sends a message, answers the call with `answer`, and returns the result."""
    async with connect(bot.url, additional_headers={"X-Self-ID": "10001"}, proxy=None) as socket:
        await bot.link.until(lambda: bot.link.now[0] == "connected")
        sending = asyncio.create_task(bot.adapter.api().send_message("private", "7", HELLO))
        call = json.loads(await socket.recv())
        await socket.send(json.dumps({"echo": call["echo"], **answer}))
        return await sending


async def test_an_empty_answer_is_uncertain(bot: Bot) -> None:
    with pytest.raises(PlatformUncertain, match="without saying whether it was done"):
        await send_with_answer(bot, {})


@pytest.mark.parametrize(
    ("answer", "message_id"),
    [
        ({"status": "async", "retcode": 1, "data": None}, None),
        ({"status": "ok", "retcode": None, "data": {"message_id": "-7"}}, "-7"),
        ({"retcode": 0, "data": {"message_id": 2**70}}, str(2**70)),
        ({"retcode": "0", "data": {"message_id": None}}, None),
        ({"retcode": 0}, None),
    ],
)
async def test_every_known_form_of_a_successful_answer_is_read(
    answer: dict[str, Any], message_id: str | None, bot: Bot
) -> None:
    assert (await send_with_answer(bot, answer)).message_id == message_id


@pytest.mark.parametrize("answer", [{"status": "failed", "retcode": 0}, {"retcode": "1200"}, {"retcode": -1}])
async def test_every_known_form_of_a_failed_answer_is_a_refusal(answer: dict[str, Any], bot: Bot) -> None:
    with pytest.raises(PlatformRefused, match="look at what it logs"):
        await send_with_answer(bot, answer)


@pytest.mark.parametrize(("duration", "seconds"), [(0, 2_592_000), (60, 60), (10**9, 2_592_000)])
async def test_the_duration_of_a_mute_is_limited_to_the_maximum_of_qq(
    duration: int, seconds: int, bot: Bot, simulator: Simulator
) -> None:
    simulator.world.add_group(5, role="owner")
    await bot.adapter.api().mute_member("5", "7", duration)
    assert simulator.requests[-1]["params"]["duration"] == seconds


async def test_a_merged_forward_is_requested_with_both_names_of_its_id(bot: Bot, simulator: Simulator) -> None:
    simulator.world.forwards["fwd"] = []
    await bot.adapter.api().call_platform_api("get_forward_msg", {"id": "fwd"})
    assert simulator.requests[-1]["params"] == {"id": "fwd", "message_id": "fwd"}


async def test_a_send_without_a_connection_fails_as_offline(bot: Bot) -> None:
    with pytest.raises(PlatformOffline):
        await bot.adapter.api().send_message("private", "7", HELLO)


async def test_answers_that_overtake_each_other_find_their_calls(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.disorder = True
    names = await asyncio.gather(*(bot.adapter.api().get_user_info(str(number)) for number in range(1, 41)))
    assert [each.id for each in names] == [str(number) for number in range(1, 41)]


async def test_a_retry_continues_after_the_parts_that_were_sent(bot: Bot, simulator: Simulator) -> None:
    chain: MessageChain = [Plain(text="one"), Voice(url="https://example.com/a.amr"), Plain(text="three")]
    simulator.faults.refuse("send_private_msg", skip=2)
    with pytest.raises(PlatformRefused):
        await bot.adapter.api().send_message("private", "7", chain, "key")
    result = await bot.adapter.api().send_message("private", "7", chain, "key")
    kinds = [each.segments[0]["type"] for each in simulator.sent()]
    assert kinds == ["text", "record", "text"]
    assert result.raw["message_ids"] == [str(each.message_id) for each in simulator.sent()]


async def test_an_artifact_goes_out_with_its_bytes_and_name(bot: Bot, simulator: Simulator) -> None:
    bot.link.files["art"] = FileContent(b"hello", "cat.png", "image/png")
    await bot.adapter.api().send_message("private", "7", [Image(artifact_id="art")])
    [sent] = simulator.sent()
    assert sent.segments[0]["data"] == {"file": "base64://aGVsbG8=", "name": "cat.png"}
    with pytest.raises(ProviderFailed):
        await bot.adapter.api().send_message("private", "7", [Image(artifact_id="gone")])


@pytest.mark.parametrize(
    "component",
    [
        File(path="/etc/passwd"),
        File(url="/etc/passwd"),
        Image(url="file:///etc/passwd"),
        Image(url="FILE:///etc/passwd"),
        Forward(nodes=[ForwardNode(sender="1", chain=[Image(url="file:///etc/passwd")])]),
        Platform(platform="onebot11", component_type="cardimage", data={"file": "file:///etc/passwd"}),
    ],
    ids=["path", "path as url", "file url", "in capitals", "in a node", "in a segment of its own"],
)
async def test_a_local_file_path_is_never_sent(component: Component, bot: Bot, simulator: Simulator) -> None:
    with pytest.raises(PlatformRefused, match="a file of a machine is not sent by its path"):
        await bot.adapter.api().send_message("private", "7", [component])
    assert simulator.sent() == []


@pytest.mark.parametrize("target", ["all", "ALL", "all,qq=all", "everyone", ""])
async def test_a_mention_with_a_special_target_never_mentions_the_whole_group(
    target: str, bot: Bot, simulator: Simulator
) -> None:
    node = ForwardNode(sender="1", chain=[At(target=target)])
    await bot.adapter.api().send_message("group", "5", [At(target=target), At(target="9"), Forward(nodes=[node])])
    mention, nodes = simulator.sent()
    assert [each["type"] for each in mention.segments] == ["text", "at"]
    assert [each["type"] for each in nodes.segments[0]["data"]["content"]] == ["text"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [("at", {"qq": "all"}), ("image", {"file": "https://example.com"}), ("at,qq=all", {}), ("dice", {"a],[CQ:at": 1})],
)
async def test_a_native_segment_can_not_replace_a_standard_component(
    kind: str, data: dict[str, Any], bot: Bot, simulator: Simulator
) -> None:
    segment = Platform(platform="onebot11", component_type=kind, data=data)
    with pytest.raises(PlatformRefused, match=r"^Platform: a segment"):
        await bot.adapter.api().send_message("group", "5", [segment])
    assert simulator.sent() == []


async def test_a_segment_may_have_fields_of_any_name(bot: Bot, simulator: Simulator) -> None:
    segment = Platform(platform="onebot11", component_type="dice", data={"kind": "y", "data": "z"})
    await bot.adapter.api().send_message("group", "5", [segment])
    assert simulator.sent()[0].segments == [{"type": "dice", "data": {"kind": "y", "data": "z"}}]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "at", "data": {"qq": "all"}}],
        "[CQ:at,qq=all] up",
        [{"type": "image", "data": {"file": "file:///etc/passwd"}}],
        [{"type": "node", "data": {"content": [{"type": "at", "data": {"qq": "all"}}]}}],
        [{"type": "reply", "data": {"id": "12"}}],
        [{"type": "forward", "data": {"id": "12"}}],
        [{"type": "node", "data": {"id": "12"}}],
    ],
    ids=["everybody", "in a string", "a file", "deeper", "a quote", "a forward", "a message of any chat"],
)
async def test_native_nodes_are_refused_content_that_a_chain_may_not_have(
    content: Any, bot: Bot, simulator: Simulator
) -> None:
    nodes = [{"type": "node", "data": {"user_id": 1, "nickname": "x", "content": content}}]
    with pytest.raises(PlatformRefused):
        await bot.adapter.api().call_platform_api("send_group_forward_msg", {"group_id": "5", "messages": nodes})
    assert simulator.requests == []


@pytest.mark.parametrize(("named", "kept"), [(7200, 3600), (10**400, 3600), (0, None), (-1, None), (True, None)])
async def test_an_unreasonable_retry_time_is_bounded_or_left_out(
    bot: Bot, simulator: Simulator, named: int, kept: int | None
) -> None:
    simulator.faults.refuse("send_private_msg", 1429, "", {"retry_after": named})
    with pytest.raises(PlatformRefused) as refused:
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert (refused.value.retry_after, refused.value.permanent) == (kept, False)


async def test_a_temporary_refusal_without_a_retry_time_has_none(bot: Bot, simulator: Simulator) -> None:
    simulator.faults.refuse("send_private_msg", 1200, "群消息发送频繁")
    with pytest.raises(PlatformRefused) as refused:
        await bot.adapter.api().send_message("private", "7", HELLO)
    assert (refused.value.retry_after, refused.value.permanent) == (None, False)


@pytest.mark.parametrize("target", ["", "abc", "1; 2", "１２a", "１２", "1_2", " 12", "1" * 30])
async def test_a_target_that_is_no_number_is_refused(target: str, bot: Bot, simulator: Simulator) -> None:
    with pytest.raises(PlatformRefused, match=r"target_id: .* is no id of OneBot"):
        await bot.adapter.api().send_message("group", target, HELLO)
    assert simulator.requests == []


async def test_nothing_to_send_is_refused(bot: Bot, simulator: Simulator) -> None:
    with pytest.raises(PlatformRefused, match="nothing in this message"):
        await bot.adapter.api().send_message("private", "7", [Plain(text="")])


async def test_cq_strings_are_answered_with_cq_strings(bot: Bot, joined: Reverse) -> None:
    simulator = await joined(bot, message_format="string")
    await simulator.say("a [b] & c", user_id=7)
    [incoming] = await bot.link.events(1)
    assert incoming.event.message_chain[1] == Plain(text="a [b] & c")  # type: ignore[attr-defined]
    await simulator.report(native.notice(10001, "friend_add", user_id=8))
    await bot.link.events(2)
    await bot.adapter.api().send_message("private", "7", [At(target="9"), Plain(text=" [x], & y")])
    assert simulator.requests[-1]["params"]["message"] == "[CQ:at,qq=9] &#91;x&#93;, &amp; y"
    assert simulator.sent()[-1].segments[0] == {"type": "at", "data": {"qq": "9"}}


async def test_an_answer_to_the_bots_own_message_addresses_it(bot: Bot, simulator: Simulator) -> None:
    sent = await bot.adapter.api().send_message("group", "5", HELLO)
    quote = {"type": "reply", "data": {"id": sent.message_id}}
    await simulator.say([quote, {"type": "text", "data": {"text": "why?"}}], group_id=5)
    await simulator.say("to nobody", group_id=5)
    answer, other = await bot.link.events(2)
    assert (answer.addresses_bot, other.addresses_bot) == (True, False)
    expected = Quote(id=sent.message_id, sender="10001", name="bot", origin=[Plain(text="hello")])
    assert answer.event.message_chain[1] == expected  # type: ignore[attr-defined]


async def test_an_answer_to_a_message_from_before_a_restart_addresses_the_bot(bot: Bot, simulator: Simulator) -> None:
    own = simulator.world.show("group:5", [native.text("long ago")]).message_id
    others = await simulator.say("by somebody", group_id=5)
    for quoted in (own, others["message_id"]):
        await simulator.say([native.segment("reply", id=str(quoted)), native.text("why?")], group_id=5)
    _, answer, other = await bot.link.events(3)
    assert (answer.addresses_bot, other.addresses_bot) == (True, False)

"""Tests every event, component, API and action through adapter, Host, plugin process and back over a real WebSocket.

The results of these tests are the adapter's evidence; the documentation is made from it.
"""

import json
import time
from pathlib import Path
from typing import Any

import parlour.platforms.onebot11 as package
from parlour.testing.evidence import Evidence
from parlour.testing.native_payloads import read_samples
from parlour.testing.onebot_simulator import Simulator, native
from tests.integration.harness import Json

from .qq import QQ, eventually, to_agent, to_plugins

SAMPLES = read_samples(Path(package.__file__).parent / "samples")
EVIDENCE = Evidence(Path(__file__).parents[2] / "docs/platforms/evidence/onebot11.json")
FRIEND, GROUP = 20002, 30003


async def test_every_event_with_every_component_reaches_a_listening_plugin(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    async with bot.connected() as simulator:
        for sample in SAMPLES:
            await simulator.report({**sample.native, "time": int(time.time())})

        def received_events() -> list[Json]:
            events = [each for each in qq.probed("events") if each["bot_id"] == bot.bot_id]
            return events if len(events) == len(SAMPLES) else []

        events = await eventually(received_events, "the probe received all samples")
    bot.delete()
    assert sorted(_comparable(each) for each in events) == sorted(_comparable(each.decoded) for each in SAMPLES)
    EVIDENCE.hold("protocol", "events", {_event_name(each["type"]) for each in events})
    EVIDENCE.hold("protocol", "receive", {part["type"] for each in events for part in each.get("message_chain", ())})


async def test_a_route_for_one_user_matches_only_pokes_by_that_user(qq: QQ) -> None:
    route = {"event_type": "*", "filters": {"users": [str(FRIEND)]}, "handler_type": "drop", "handler_config": {}}
    bot = qq.bot([route])
    poke = {"sub_type": "poke", "group_id": GROUP, "target_id": 10001}
    async with bot.connected() as simulator:
        for user in (FRIEND, 20009):
            await simulator.report(native.notice(10001, "notify", user_id=user, **poke))

        def settled_trails() -> dict[str, str]:
            events = qq.host.items("/events", bot_id=bot.bot_id)
            trails = {each["actor_id"]: qq.host.http().get(f"/events/{each['event_id']}/why").text for each in events}
            return trails if len(trails) == 2 and all("settled" in text for text in trails.values()) else {}

        trails = await eventually(settled_trails, "both are settled")
    bot.delete()
    assert "drops it" in trails[str(FRIEND)]
    assert "20009 is not among them" in trails["20009"]


def _comparable(event: Json) -> str:
    """Leaves out the parts that differ between a report and the received event: time, bot, names,
    the place of files.
    """
    rest = {name: value for name, value in event.items() if name not in ("event_id", "timestamp", "bot_id")}
    rest = _without(rest, ("nickname", "name"))
    if "data" in rest:
        added = ("chat_type", "chat_id", "group")
        rest["data"] = {name: value for name, value in event["data"].items() if name not in added}
    chain = [{**part, "time": 0} if part["type"] == "Source" else part for part in event.get("message_chain", ())]
    return json.dumps({**rest, "message_chain": _without(chain, ("url", "base64", "artifact_id"))}, sort_keys=True)


def _without(value: Any, names: tuple[str, ...]) -> Any:
    match value:
        case list():
            return [_without(each, names) for each in value]
        case dict():
            return {name: _without(each, names) for name, each in value.items() if name not in names}
    return value


def _event_name(event_type: str) -> str:
    return "platform.onebot11.*" if event_type.startswith("platform.") else event_type


async def test_every_component_goes_out_in_its_order(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    async with bot.connected() as simulator:
        [outcome] = await _probe_calls(
            qq, simulator, [_call("messages.send", bot.bot_id, target_type="private", target_id="7", chain=CHAIN)]
        )
        sent = await simulator.answered(6, "private:7")
    bot.delete()
    assert outcome["answer"]["message_id"] == str(sent[0].message_id)
    segments = [(each["type"], each["data"]) for message in sent for each in message.segments]
    assert segments == SEGMENTS
    assert [message.forward for message in sent] == [False, False, False, False, True, False]
    EVIDENCE.hold("protocol", "send", {part["type"] for part in CHAIN})


CHAIN: list[Json] = [
    {"type": "Quote", "id": "5"},
    {"type": "At", "target": "20002"},
    {"type": "Plain", "text": " a [CQ:at,qq=all] & b\n"},
    {"type": "AtAll"},
    {"type": "Image", "url": "https://example.com/a.png"},
    {"type": "Plain", "text": "between"},
    {"type": "Image", "base64": "aGVsbG8="},
    {"type": "Face", "id": "14"},
    {"type": "Unknown", "text": "[a sticker]"},
    {"type": "Platform", "platform": "onebot11", "component_type": "dice", "data": {}},
    {"type": "Voice", "url": "https://example.com/a.amr"},
    {"type": "Video", "url": "https://example.com/a.mp4"},
    {"type": "File", "url": "https://example.com/a.pdf", "name": "a.pdf"},
    {"type": "Forward", "nodes": [{"sender": "7", "name": "Ann", "chain": [{"type": "Plain", "text": "one"}]}]},
    {"type": "Plain", "text": "the end"},
]
SEGMENTS: list[tuple[str, Json]] = [
    ("reply", {"id": "5"}),
    ("at", {"qq": "20002"}),
    ("text", {"text": " a [CQ:at,qq=all] & b\n"}),
    ("at", {"qq": "all"}),
    ("image", {"file": "https://example.com/a.png"}),
    ("text", {"text": "between"}),
    ("image", {"file": "base64://aGVsbG8="}),
    ("face", {"id": "14"}),
    ("text", {"text": "[a sticker]"}),
    ("dice", {}),
    ("record", {"file": "https://example.com/a.amr"}),
    ("video", {"file": "https://example.com/a.mp4"}),
    ("file", {"file": "https://example.com/a.pdf", "name": "a.pdf"}),
    ("node", {
        "user_id": "7", "uin": "7", "nickname": "Ann", "name": "Ann",
        "content": [{"type": "text", "data": {"text": "one"}}],
    }),
    ("text", {"text": "the end"}),
]  # fmt: skip


async def test_every_api_and_action_does_what_it_says(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    simulator = Simulator(strict=True)
    _fill_world(simulator)
    async with bot.connected(simulator):
        earlier = await simulator.say("earlier", user_id=FRIEND)
        calls = _calls(bot.bot_id, str(earlier["message_id"]))
        outcomes = await _probe_calls(qq, simulator, [call for _, call, _ in calls], user_id=FRIEND)
    bot.delete()
    for (name, _, expected), outcome in zip(calls, outcomes, strict=True):
        assert "answer" in outcome, (name, outcome)
        assert _holds(outcome["answer"], expected), (name, outcome)
    _check_world(simulator)
    apis = {"call_platform_api", *(name for name, call, _ in calls if call["api"] != "platform.call")}
    EVIDENCE.hold("protocol", "apis", apis)
    EVIDENCE.hold("protocol", "actions", {name for name, call, _ in calls if call["api"] == "platform.call"})


async def test_a_plugins_calls_use_the_account_that_received_the_named_message_or_request(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    first, second = Simulator(), Simulator(self_id=10002)
    _fill_world(second)
    async with bot.connected(first), bot.connected(second):
        asked = await second.say("earlier", FRIEND, GROUP)
        await second.report(native.request(10002, "friend", "friend-flag", user_id=20005))
        chat = {"chat_type": "group", "chat_id": str(GROUP), "message_id": str(asked["message_id"])}
        calls = [
            _call("users.answer_friend_request", bot.bot_id, request_id="friend-flag", approve=True),
            _call("messages.get", bot.bot_id, **chat),
            _call("groups.kick", bot.bot_id, group_id=str(GROUP), user_id="20007"),
        ]
        await eventually(lambda: len(qq.host.items("/events", bot_id=bot.bot_id)) >= 2, "the second met them")
        outcomes = await _probe_calls(qq, first, calls)
    bot.delete()
    assert all("answer" in outcome for outcome in outcomes), outcomes
    made = [each["action"] for each in second.requests if each["action"] not in ("get_group_info", "get_stranger_info")]
    assert made == ["set_friend_add_request", "get_msg", "set_group_kick"]
    assert first.requests == []


def _fill_world(simulator: Simulator) -> None:
    world = simulator.world
    world.add_group(GROUP, "the group", role="admin")
    world.add_group(30009, "left soon")
    for user in (20002, 20006, 20007):
        world.add_member(GROUP, user, card=f"card {user}")
    world.add_friend(FRIEND, "Ann", remark="my friend")
    world.requests = {"friend-flag": {}, "invite-flag": {}, "join-flag": {}}
    world.files = {"cat.jpg": "https://example.com/cat.jpg", "a.amr": "https://example.com/a.amr"}
    world.forwards["fwd"] = [native.segment("node", user_id="7", nickname="Ann", content=[native.text("one")])]


def _calls(bot_id: str, message_id: str) -> list[tuple[str, Json, Any]]:
    """Returns name, call, and the expected part of the answer."""

    def api(name: str, method: str, expected: Any = None, /, **arguments: Any) -> tuple[str, Json, Any]:
        return name, _call(method, bot_id, **arguments), expected

    def action(name: str, expected: Any = None, /, **params: Any) -> tuple[str, Json, Any]:
        return name, _call("platform.call", bot_id, action=name, params=params), expected

    group, member = {"group_id": str(GROUP)}, {"group_id": str(GROUP), "user_id": "20006"}
    text = [{"type": "Plain", "text": "sent"}]
    chat = {"chat_type": "private", "chat_id": str(FRIEND), "message_id": message_id}
    away = {"from_chat_type": "private", "from_chat_id": str(FRIEND), "message_id": message_id}
    return [
        ("reply_message", {"api": "reply", "arguments": {"message": "a reply", "quote": True}}, None),
        api("send_message", "messages.send", target_type="group", target_id=str(GROUP), chain=text),
        api("forward_message", "messages.forward", **away, to_chat_type="group", to_chat_id=str(GROUP)),
        api("get_message", "messages.get", {"message_id": message_id}, **chat),
        api("delete_message", "messages.delete", **chat),
        api("get_group_info", "groups.info", {"name": "the group", "member_count": 4}, **group),
        api("get_group_list", "groups.list", [{"id": str(GROUP)}, {"id": "30009"}]),
        api("get_group_member_list", "groups.members", **group),
        api("get_group_member_info", "groups.member", {"display_name": "card 20006"}, **member),
        api("set_group_name", "groups.rename", **group, name="renamed"),
        api("mute_member", "groups.mute", **member, duration=0),
        api("mute_member", "groups.mute", **{**member, "user_id": "20002"}, duration=60),
        api("unmute_member", "groups.unmute", **{**member, "user_id": "20002"}),
        api("kick_member", "groups.kick", **{**member, "user_id": "20007"}),
        api("is_muted", "groups.is_muted", False, **group),
        api("leave_group", "groups.leave", group_id="30009"),
        api("get_user_info", "users.info", {"nickname": "user 20002"}, user_id="20002"),
        api("get_friend_list", "users.friends", [{"id": str(FRIEND), "remark": "my friend"}]),
        api("answer_friend_request", "users.answer_friend_request", request_id="friend-flag", approve=True, remark="A"),
        api("answer_group_invite", "users.answer_group_invite", request_id="invite-flag", approve=False),
        api("get_file_url", "media.url", "https://example.com/cat.jpg", file_id="cat.jpg"),
        action("get_login_info", {"user_id": 10001}),
        action("get_status", {"online": True}),
        action("get_version_info", {"protocol_version": "v11"}),
        action("get_group_honor_info", {"type": "all"}, **group, type="all"),
        action("set_group_card", **member, card="new card"),
        action("set_group_special_title", **member, special_title="hero"),
        action("set_group_admin", **{**member, "user_id": "20002"}, enable=True),
        action("set_group_whole_ban", **group, enable=True),
        action("set_group_add_request", flag="join-flag", sub_type="add", approve=True),
        action("send_group_forward_msg", **group, messages=[native.segment("node", user_id="7", content=[])]),
        action("get_forward_msg", None, id="fwd"),
        action("get_record", {"url": "https://example.com/a.amr"}, file="a.amr", out_format="mp3"),
        action("get_image", {"url": "https://example.com/cat.jpg"}, file="cat.jpg"),
        action("can_send_image", {"yes": True}),
        action("can_send_record", {"yes": True}),
    ]


def _check_world(simulator: Simulator) -> None:
    """Checks the effects of the calls on the simulated platform."""
    world = simulator.world
    group = world.groups[GROUP]
    assert group.name == "renamed"
    assert group.members[20006]["shut_up_timestamp"] > time.time() + 29 * 24 * 3600
    assert group.members[20002]["shut_up_timestamp"] == 0
    assert (group.members[20006]["card"], group.members[20006]["title"]) == ("new card", "hero")
    assert group.members[20002]["role"] == "admin"
    assert group.whole_ban
    assert 20007 not in group.members
    assert 30009 not in world.groups
    assert world.requests["friend-flag"]["answer"] == {"approve": True, "remark": "A"}
    assert world.requests["invite-flag"]["answer"] == {"sub_type": "invite", "approve": False}
    assert world.requests["join-flag"]["answer"] == {"sub_type": "add", "approve": True}
    [reply] = simulator.sent(f"private:{FRIEND}")
    assert [each["type"] for each in reply.segments] == ["reply", "text"]
    assert [each.forward for each in simulator.sent(f"group:{GROUP}")] == [False, True, True]


def _call(api: str, bot_id: str, **arguments: Any) -> Json:
    return {"api": api, "arguments": {"bot_id": bot_id, **arguments}}


async def _probe_calls(qq: QQ, simulator: Simulator, calls: list[Json], user_id: int = 7) -> list[Json]:
    """Returns the outcomes of the calls, which the probe makes."""
    before = len(qq.probed("answers"))
    await simulator.say(json.dumps(calls), user_id=user_id)

    def answered() -> list[Json]:
        answers = qq.probed("answers")[before:]
        return answers if len(answers) >= len(calls) else []

    return await eventually(answered, "the probe made its calls")


def _holds(answer: Any, expected: Any) -> bool:
    match expected:
        case None:
            return True
        case dict():
            return isinstance(answer, dict) and all(answer.get(name) == value for name, value in expected.items())
        case list():
            return len(answer) == len(expected) and all(map(_holds, answer, expected))
    return bool(answer == expected)


async def test_a_plugins_command_answers_in_the_chat_and_listeners_receive_it(qq: QQ, echo: str) -> None:
    bot = qq.bot(to_agent(echo))
    async with bot.connected() as simulator:
        await simulator.say("/count 3", FRIEND)
        sent = await simulator.answered(3, f"private:{FRIEND}")
        assert [each.text for each in sent] == ["1", "2", "3"]
        await simulator.say("hello", FRIEND)

        def received_events() -> list[Json]:
            events = [each for each in qq.probed("events") if each["bot_id"] == bot.bot_id]
            return events if "message.responded" in {each["type"] for each in events} else []

        events = {each["type"]: each for each in await eventually(received_events, "the probe received the reply")}
    bot.delete()
    assert (events["command.sent"]["command"], events["command.sent"]["arguments"]) == ("count", ["3"])
    assert events["message.responded"]["message_chain"] == [{"type": "Plain", "text": "hello"}]

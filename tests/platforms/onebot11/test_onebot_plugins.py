"""Tests calls, components and commands of plugins on QQ beyond the shared suite, over a real WebSocket."""

import json
from typing import Any

from parlour.testing.onebot_simulator import Simulator, native
from tests.support.harness import Json

from .qq import QQ, eventually, to_agent, to_plugins

FRIEND, GROUP = 20002, 30003


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


async def test_a_plugins_calls_use_the_account_that_received_the_named_message_or_request(qq: QQ) -> None:
    bot = qq.bot(to_plugins())
    first, second = Simulator(), Simulator(self_id=10002)
    _fill_world(second)
    async with bot.connected(first), bot.connected(second):
        message = await second.say("earlier", FRIEND, GROUP)
        await second.report(native.request(10002, "friend", "friend-flag", user_id=20005))
        chat = {"chat_type": "group", "chat_id": str(GROUP), "message_id": str(message["message_id"])}
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

"""Tests every event, component, API and action through adapter, Host, plugin process and back over real HTTP.

The results of these tests are the adapter's evidence; the documentation is made from it.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import parlour.platforms.telegram as package
from parlour.platforms.telegram.polling import ALLOWED_UPDATES
from parlour.testing.evidence import Evidence
from parlour.testing.native_payloads import read_samples
from parlour.testing.telegram_simulator import Simulator
from tests.integration.harness import Json
from tests.onebot.qq import eventually, to_agent, to_plugins

from .conftest import WRITING
from .test_telegram_streaming import ask, telegram
from .tg import Telegram

SAMPLES = read_samples(Path(package.__file__).parent / "samples")
EVIDENCE = Evidence(Path(__file__).parents[2] / "docs/platforms/evidence/telegram.json")
FILES = ("photo", "voice", "audio", "video", "animation", "document")
ANN, BOB, EVE = 20002, 20006, 20007
GROUP, LEFT = -1001, -1009


async def test_every_event_with_every_component_reaches_a_listening_plugin(tg: Telegram) -> None:
    simulator = Simulator()
    for name in FILES:
        simulator.world.add_file(b"hello", file_id=f"sample-{name}")
    async with tg.bot(to_plugins(), simulator) as bot:
        for sample in SAMPLES:
            await simulator.report(**{name: value for name, value in sample.native.items() if name != "update_id"})

        def received_events() -> list[Json]:
            own = [each for each in tg.probed("events") if each["bot_id"] == bot.bot_id]
            events_by_id = {each["event_id"]: each for each in own}  # a listener may receive an event twice
            return list(events_by_id.values()) if len(events_by_id) == len(SAMPLES) else []

        events = await eventually(received_events, "the probe received all samples")
    assert sorted(_comparable(each) for each in events) == sorted(_comparable(each.decoded) for each in SAMPLES)
    EVIDENCE.hold("protocol", "events", {_event_name(each["type"]) for each in events})
    EVIDENCE.hold("protocol", "receive", {part["type"] for each in events for part in each.get("message_chain", ())})


OTHER_KINDS: dict[str, Json] = {
    "business_message": {"message_id": 5, "date": 1, "chat": {"id": ANN, "type": "private"}, "text": "hi"},
    "inline_query": {"id": "7", "from": {"id": ANN, "first_name": "Ann", "is_bot": False}, "query": "cats"},
    "pre_checkout_query": {"id": "8", "from": {"id": ANN, "first_name": "Ann", "is_bot": False}, "currency": "EUR"},
    "chat_boost": {"chat": {"id": GROUP, "type": "supergroup", "title": "g"}, "boost": {"boost_id": "1"}},
    "removed_chat_boost": {"chat": {"id": GROUP, "type": "supergroup", "title": "g"}, "boost_id": "1"},
}
"""Updates without an event of their own. The simulator delivers only kinds that the bot requested, as Telegram does."""


async def test_updates_without_an_event_of_their_own_reach_a_listening_plugin_too(tg: Telegram) -> None:
    async with tg.bot(to_plugins()) as bot:
        for kind, update in OTHER_KINDS.items():
            await bot.simulator.report(**{kind: update})

        def received_events() -> set[str]:
            return {each["type"] for each in tg.probed("events") if each["bot_id"] == bot.bot_id}

        await eventually(lambda: len(received_events()) == len(OTHER_KINDS), "the probe received all kinds")
    assert received_events() == {f"platform.telegram.{kind}" for kind in OTHER_KINDS}


def test_every_kind_of_update_that_telegram_knows_is_requested() -> None:
    asked = "from telegram import Update; print(*(kind.value for kind in Update.ALL_TYPES))"
    printed = subprocess.run([sys.executable, "-c", asked], cwd="/", capture_output=True, text=True, check=True)
    assert set(printed.stdout.split()) <= set(ALLOWED_UPDATES)


def _comparable(event: Json) -> str:
    """Leaves out the parts that differ between two reports of the same event: the bot and the places of its files."""
    rest = {name: value for name, value in event.items() if name not in ("event_id", "timestamp", "bot_id")}
    if "data" in rest:
        rest["data"] = {name: value for name, value in event["data"].items() if name not in ("chat_type", "chat_id")}
    chain = [
        {name: value for name, value in part.items() if name not in ("base64", "artifact_id")}
        for part in event.get("message_chain", ())
    ]
    return json.dumps({**rest, "message_chain": chain}, sort_keys=True)


def _event_name(event_type: str) -> str:
    return "platform.telegram.*" if event_type.startswith("platform.") else event_type


async def test_every_component_goes_out_in_its_order(tg: Telegram) -> None:
    simulator = Simulator()
    simulator.faults.in_chat = (100, 1.0)
    simulator.world.web = {f"https://example.com/{name}": b"x" for name in ("a.png", "b.png", "a.mp4", "a.pdf")}
    simulator.world.add_file(b"sticker", file_id="a-sticker")
    simulator.world.person(ANN)
    async with tg.bot(to_plugins(), simulator) as bot:
        earlier = simulator.message(ANN, text="earlier")
        chain = [{"type": "Quote", "id": str(earlier["message_id"])}, *CHAIN]
        [outcome] = await _probe_calls(
            tg, simulator, [_call("messages.send", bot.bot_id, target_type="private", target_id=str(ANN), chain=chain)]
        )
        sent = [each.message for each in simulator.sent(ANN)]
    assert outcome["answer"]["message_id"] == str(sent[0]["message_id"]), outcome
    assert [_outline(each) for each in sent] == OUTLINE
    assert sent[0]["reply_to_message"] is earlier
    assert sent[0]["caption"] == "@Ann a **b & c < d"
    assert [(each["type"], each["length"]) for each in sent[0]["caption_entities"]] == [("text_mention", 4)]
    assert sent[0]["media_group_id"] == sent[1]["media_group_id"]
    assert sent[-1]["reply_markup"]["inline_keyboard"][0][0]["text"] == "Yes"
    EVIDENCE.hold("protocol", "send", {part["type"] for part in chain})


CHAIN: list[Json] = [
    {"type": "At", "target": str(BOB), "display": "Ann"},
    {"type": "Plain", "text": " a **b & c < d"},
    {"type": "Image", "url": "https://example.com/a.png"},
    {"type": "Image", "base64": "aGVsbG8="},
    {"type": "Plain", "text": "between"},
    {"type": "Video", "url": "https://example.com/a.mp4"},
    {"type": "File", "url": "https://example.com/a.pdf", "name": "a.pdf"},
    {"type": "Voice", "base64": "aGVsbG8=", "mime_type": "audio/ogg"},
    {"type": "Voice", "base64": "aGVsbG8=", "mime_type": "audio/mpeg"},
    {"type": "Face", "id": "a-sticker"},
    {"type": "Platform", "platform": "telegram", "component_type": "dice", "data": {"emoji": "🎯"}},
    {"type": "Unknown", "text": "[something]"},
    {
        "type": "Platform",
        "platform": "telegram",
        "component_type": "buttons",
        "data": {"buttons": [{"label": "Yes", "action_id": "answer", "value": {"yes": True}}]},
    },
]
OUTLINE = ["photo", "photo", "video between", "document", "voice", "audio", "sticker", "dice", "[something]"]
KINDS = ("photo", "video", "document", "voice", "audio", "sticker", "dice")


def _outline(message: Json) -> str:
    kind = next((name for name in KINDS if name in message), "")
    words = message.get("text") or (message.get("caption") if kind != "photo" else "")
    return f"{kind} {words or ''}".strip()


async def test_every_api_and_action_does_what_it_says(tg: Telegram) -> None:
    simulator = Simulator()
    _fill_world(simulator)
    async with tg.bot(to_plugins(), simulator) as bot:
        own = simulator.world.show(simulator.world.chats[GROUP], {"text": "own"})
        theirs = simulator.message(ANN, GROUP, text="theirs")
        calls = _calls(bot.bot_id, str(own["message_id"]), str(theirs["message_id"]))
        outcomes = await _probe_calls(tg, simulator, [call for _, call, _ in calls])
    for (name, _, expected), outcome in zip(calls, outcomes, strict=True):
        assert "answer" in outcome, (name, outcome)
        assert _holds(outcome["answer"], expected), (name, outcome)
    _check_world(simulator, own["message_id"], theirs["message_id"])
    apis = {"call_platform_api", *(name for name, call, _ in calls if call["api"] != "platform.call")}
    await _draft_is_shown(tg)
    EVIDENCE.hold("protocol", "apis", {*apis, "open_stream"})
    EVIDENCE.hold("protocol", "actions", {name for name, call, _ in calls if call["api"] == "platform.call"})


async def _draft_is_shown(tg: Telegram) -> None:
    """Plugins can't open streams; the Host does so for an agent that streams."""
    simulator = telegram()
    async with tg.bot(to_agent(tg.host.agent(WRITING, "writing")), simulator):
        await ask(simulator, "One two three", piece=4, pause=0.1)
        await simulator.answered(1)
    assert simulator.made("sendMessageDraft")[1]["text"].startswith("One")


def _fill_world(simulator: Simulator) -> None:
    simulator.faults.in_chat = (100, 1.0)
    world = simulator.world
    world.person(ANN, "Ann")
    world.add_group(GROUP, "the group", bot_status="administrator")
    world.add_group(LEFT, "left soon")
    world.add_member(GROUP, ANN, "creator")
    for user in (BOB, EVE):
        world.add_member(GROUP, user)
    world.queries.add("a-query")


def _calls(bot_id: str, own: str, theirs: str) -> list[tuple[str, Json, Any]]:
    """Returns name, call, and the expected part of the answer."""

    def api(name: str, method: str, expected: Any = None, /, **arguments: Any) -> tuple[str, Json, Any]:
        return name, _call(method, bot_id, **arguments), expected

    def action(name: str, expected: Any = None, /, **params: Any) -> tuple[str, Json, Any]:
        return name, _call("platform.call", bot_id, action=name, params=params), expected

    group, chat = {"group_id": str(GROUP)}, {"chat_id": str(GROUP)}
    member = {**group, "user_id": str(BOB)}
    text = [{"type": "Plain", "text": "sent"}]
    message = {"chat_type": "group", **chat, "message_id": own}
    away = {"from_chat_type": "group", "from_chat_id": str(GROUP), "message_id": theirs}
    return [
        ("reply_message", {"api": "reply", "arguments": {"message": "a reply", "quote": True}}, None),
        api("send_message", "messages.send", target_type="group", target_id=str(GROUP), chain=text),
        api("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api("edit_message", "messages.edit", **message, chain=[{"type": "Plain", "text": "changed"}]),
        api("forward_message", "messages.forward", **away, to_chat_type="private", to_chat_id=str(ANN)),
        api("react", "messages.react", **{**message, "message_id": theirs}, reaction="👍", add=True),
        api("get_group_info", "groups.info", {"name": "the group", "member_count": 4}, **group),
        api("get_group_member_info", "groups.member", {"role": "owner"}, **{**group, "user_id": str(ANN)}),
        api("set_group_name", "groups.rename", **group, name="renamed"),
        api("mute_member", "groups.mute", **member, duration=60),
        api("unmute_member", "groups.unmute", **member),
        api("mute_member", "groups.mute", **member, duration=0),
        api("kick_member", "groups.kick", **{**group, "user_id": str(EVE)}),
        api("is_muted", "groups.is_muted", False, **group),
        api("leave_group", "groups.leave", group_id=str(LEFT)),
        api("get_user_info", "users.info", {"nickname": "Ann"}, user_id=str(ANN)),
        api("send_typing", "messages.typing", chat_type="private", chat_id=str(ANN)),
        action("pin_message", True, **chat, message_id=own),
        action("pin_message", True, **chat, message_id=theirs),
        action("unpin_message", True, **chat, message_id=own),
        action("unpin_all_messages", True, **chat),
        action("get_chat_administrators", None, **chat),
        action("set_chat_title", True, **chat, title="titled"),
        action("set_chat_description", True, **chat, description="about"),
        action("get_chat_member_count", 3, **chat),
        action("send_chat_action", True, **chat, action="upload_photo"),
        action("create_chat_invite_link", {"name": "for all"}, **chat, name="for all"),
        action("answer_callback_query", True, callback_query_id="a-query", text="done"),
        api("delete_message", "messages.delete", **message),
    ]


def _check_world(simulator: Simulator, own: int, theirs: int) -> None:
    world = simulator.world
    group = world.chats[GROUP]
    assert group.about["title"] == "titled"
    assert group.about["description"] == "about"
    assert group.pinned == []
    assert world.shown(GROUP, own).versions == ["own", "changed"]
    assert world.shown(GROUP, own).deleted
    assert world.reactions == {(GROUP, theirs): [{"type": "emoji", "emoji": "👍"}]}
    assert group.members[BOB]["status"] == "restricted"
    assert group.members[EVE]["status"] == "left"
    assert world.chats[LEFT].members[world.bot_id]["status"] == "left"
    assert [each["action"] for each in world.typing if each["action"] != "typing"] == ["upload_photo"]
    assert world.answered_queries == [{"callback_query_id": "a-query", "text": "done"}]
    reply, forwarded = simulator.sent(ANN)
    assert (reply.text, "reply_to_message" in reply.message) == ("a reply", True)
    assert forwarded.message["forward_origin"]["sender_user"]["id"] == ANN


def _call(api: str, bot_id: str, **arguments: Any) -> Json:
    return {"api": api, "arguments": {"bot_id": bot_id, **arguments}}


async def _probe_calls(tg: Telegram, simulator: Simulator, calls: list[Json]) -> list[Json]:
    """Returns the outcomes of the calls, which the probe makes."""
    before = len(tg.probed("answers"))
    await simulator.say(json.dumps(calls), user=ANN)

    def answered() -> list[Json]:
        answers = tg.probed("answers")[before:]
        return answers if len(answers) >= len(calls) else []

    return await eventually(answered, "the probe made its calls")


def _holds(answer: Any, expected: Any) -> bool:
    match expected:
        case None:
            return True
        case dict():
            return isinstance(answer, dict) and all(answer.get(name) == value for name, value in expected.items())
    return bool(answer == expected)

"""Tests every event, component and API through adapter, Host, plugin process and back, with Synapse and a real client.

The results of these tests are the adapter's evidence; the documentation is made from it.
"""

import base64
from pathlib import Path
from typing import Any

from parlour.platforms.catalogue import BuiltinAdapterCatalogue
from parlour.testing.evidence import Evidence
from tests.integration.harness import Json
from tests.onebot.qq import eventually, to_plugins

from .person import Person, require_success
from .world import Bot, World

EVIDENCE = Evidence(Path(__file__).parents[2] / "docs/platforms/evidence/matrix.json")
MANIFEST = BuiltinAdapterCatalogue().manifests()["matrix"]
PICTURE = b"not really a picture"
OTHER_FILES = {"m.audio": "Voice", "m.video": "Video", "m.file": "File"}


async def test_every_event_with_every_component_reaches_a_listening_plugin(world: World) -> None:
    async with (
        world.bot(to_plugins(), invitations="accept") as bot,
        world.person("Ann") as ann,
        world.person("Bob") as bob,
    ):
        room = await ann.room(bot.user_id, bob.id, name="The room")
        require_success(await bob.client.join(room))
        said = await _say_everything(ann, bob, bot, room)
        await _do_everything(ann, bob, bot, room, said)
        events = await eventually(lambda: _received_events(world, bot), "the probe received the bot's removal")
    received = {each["event_id"]: each for each in events if each["type"].startswith("message.")}
    _check_messages(received, said, ann, bob, bot)
    _check_room_events([each for each in events if not each["type"].startswith("message.")], ann, bob, room)
    names = {"platform.matrix.*" if each["type"].startswith("platform.") else each["type"] for each in events}
    EVIDENCE.hold("peer", "events", names)
    assert names == set(MANIFEST.supported_events)
    received = {part["type"] for each in events for part in each.get("message_chain", ())}
    EVIDENCE.hold("peer", "receive", received)
    assert received == set(MANIFEST.components.receive)


def _received_events(world: World, bot: Bot) -> list[Json]:
    received = [each for each in world.probed("events") if each["bot_id"] == bot.bot_id]
    return received if any(each["type"] == "bot.removed_from_group" for each in received) else []


async def _say_everything(ann: Person, bob: Person, bot: Bot, room: str) -> dict[str, str]:
    """Sends one message of each kind and returns the ids by name."""
    pill = (
        f'<a href="https://matrix.to/#/{bot.user_id}">The Bot</a>: see <a href="https://matrix.to/#/{bob.id}">Bob</a>'
    )
    mentioned = {"m.mentions": {"user_ids": [bot.user_id, bob.id]}, "format": "org.matrix.custom.html"}
    said = {"mention": await ann.say(room, "The Bot: see Bob, now", **mentioned, formatted_body=f"{pill}, now")}
    said["everyone"] = await ann.say(room, "hello @room!", **{"m.mentions": {"room": True}})
    uri = await ann.upload(PICTURE, "image/png", "a.png")
    about = {"url": uri, "info": {"mimetype": "image/png", "size": len(PICTURE)}}
    said["image"] = await ann.send(room, {"msgtype": "m.image", "body": "a cat", "filename": "a.png", **about})
    for kind in OTHER_FILES:
        said[kind] = await ann.send(room, {"msgtype": kind, "body": "a.bin", **about})
    gone = {"url": "mxc://parlour.test/gone"}
    said["gone"] = await ann.send(room, {"msgtype": "m.image", "body": "gone.png", **gone})
    said["place"] = await ann.send(room, {"msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2"})
    reply = {"m.in_reply_to": {"event_id": said["mention"]}}
    said["reply"] = await bob.say(room, "> <@ann> see Bob\n\nI do", **{"m.relates_to": reply})
    thread = {"rel_type": "m.thread", "event_id": said["mention"], "is_falling_back": True, **reply}
    said["thread"] = await bob.say(room, "in a thread", **{"m.relates_to": thread})
    return said


async def _do_everything(ann: Person, bob: Person, bot: Bot, room: str, said: dict[str, str]) -> None:
    edit = {"rel_type": "m.replace", "event_id": said["everyone"]}
    new = {"m.new_content": {"msgtype": "m.text", "body": "hello all"}, "m.relates_to": edit}
    said["edit"] = await ann.say(room, "* hello all", **new)
    said["false edit"] = await bob.say(room, "* hello nobody", **new)
    thumb = {"m.relates_to": {"rel_type": "m.annotation", "event_id": said["mention"], "key": "👍"}}
    said["reaction"] = await bob.send(room, thumb, "m.reaction")
    said["taken back"] = require_success(await bob.client.room_redact(room, said["reaction"])).event_id
    said["deletion"] = require_success(await ann.client.room_redact(room, said["image"])).event_id
    await ann.send(room, {"anything": 1}, "org.example.poll/start")
    require_success(await ann.client.room_put_state(room, "m.room.name", {"name": "Another name"}))
    require_success(await bob.client.room_leave(room))
    require_success(await ann.client.room_ban(room, bob.id))
    require_success(await ann.client.room_unban(room, bob.id))
    require_success(await ann.client.room_kick(room, bot.user_id))


def _check_messages(received: dict[str, Json], said: dict[str, str], ann: Person, bob: Person, bot: Bot) -> None:
    def chain(name: str) -> list[Json]:
        parts: list[Json] = received[said[name]]["message_chain"]
        assert parts[0]["type"] == "Source"
        assert parts[0]["id"] == said[name]
        return parts[1:]

    at_bot = {"type": "At", "target": bot.user_id, "display": "The Bot"}
    at_bob = {"type": "At", "target": bob.id, "display": "Bob"}
    assert chain("mention") == [at_bot, plain(" see "), at_bob, plain(", now")]
    assert chain("everyone") == [plain("hello "), {"type": "AtAll"}, plain("!")]
    picture, caption = chain("image")
    assert (picture["type"], picture["name"], picture["mime_type"]) == ("Image", "a.png", "image/png")
    assert "artifact_id" in picture
    assert caption == plain("a cat")
    assert [chain(kind)[0]["type"] for kind in OTHER_FILES] == list(OTHER_FILES.values())
    [gone] = chain("gone")
    assert gone["type"] == "Unknown"
    assert "gone.png" in gone["text"]
    assert "could not be fetched" in gone["text"]
    [place] = chain("place")
    assert (place["component_type"], place["data"]["geo_uri"]) == ("m.location", "geo:1,2")
    quote, words = chain("reply")
    assert (quote["id"], quote["sender"]) == (said["mention"], ann.id)
    assert words == plain("I do")
    assert chain("thread") == [plain("in a thread")]
    assert received[said["mention"]]["sender"]["nickname"] == "Ann"
    edited = received[said["edit"]]
    assert (edited["message_id"], edited["new_content"]) == (said["everyone"], [plain("hello all")])
    assert said["false edit"] not in received
    added, taken = received[said["reaction"]], received[said["taken back"]]
    assert (added["reaction"], added["message_id"], added["is_add"]) == ("👍", said["mention"], True)
    assert (taken["reaction"], taken["message_id"], taken["is_add"]) == ("👍", said["mention"], False)
    assert received[said["deletion"]]["message_id"] == said["image"]


def _check_room_events(events: list[Json], ann: Person, bob: Person, room: str) -> None:
    received = {each["type"]: each for each in events}
    assert received["bot.invited_to_group"]["inviter"]["id"] == ann.id
    assert received["bot.invited_to_group"]["request_id"] == room
    assert received["group.member_joined"]["member"]["user"]["id"] == bob.id
    assert received["group.member_left"]["is_kicked"] is False
    assert received["group.info_updated"]["changed_fields"] == ["name"]
    assert received["group.member_banned"]["operator"]["id"] == ann.id
    assert received["group.member_unbanned"]["member"]["user"]["id"] == bob.id
    assert received["platform.matrix.org.example.poll_start"]["data"]["content"] == {"anything": 1}
    assert received["bot.removed_from_group"]["operator"]["id"] == ann.id


async def test_every_component_goes_out_in_its_order(world: World) -> None:
    async with world.bot(to_plugins()) as bot, world.person("Ann") as ann:
        room = await ann.room(bot.user_id)
        earlier = await ann.say(room, "earlier")
        chain = [{"type": "Quote", "id": earlier}, {"type": "At", "target": ann.id, "display": "Ann"}, *CHAIN]
        target = {"target_type": "private", "target_id": room}
        [outcome] = await world.probe_calls(ann, room, [_call("messages.send", bot.bot_id, chain=chain, **target)])
        await ann.until(lambda: len(ann.events(room)) == 7)
        sent = ann.events(room)
        content = await ann.client.download(sent[1]["content"]["url"])
    assert outcome["answer"]["message_id"] == sent[0]["event_id"]
    first = sent[0]["content"]
    assert first["m.relates_to"] == {"m.in_reply_to": {"event_id": earlier}}
    assert first["body"] == "Ann a <b>&</b> **b** @room[a sticker]"
    link = f'<a href="https://matrix.to/#/{ann.id}">Ann</a>'
    assert first["formatted_body"] == f"{link} a &lt;b&gt;&amp;&lt;/b&gt; <strong>b</strong> @room[a sticker]"
    assert first["m.mentions"] == {"user_ids": [ann.id], "room": True}
    kinds = ["m.notice", "m.image", "m.notice", "m.audio", "m.video", "m.file", "m.location"]
    assert [each["content"]["msgtype"] for each in sent] == kinds
    assert require_success(content).body == PICTURE
    assert sent[2]["content"]["body"] == "between, https://example.com: cat: https://example.com/cat.png\n"
    EVIDENCE.hold("peer", "send", {part["type"] for part in chain})
    assert {part["type"] for part in chain} == set(MANIFEST.components.send)


def plain(text: str) -> Json:
    return {"type": "Plain", "text": text}


def _file(kind: str, name: str) -> Json:
    return {"type": kind, "base64": base64.b64encode(PICTURE).decode(), "name": name}


CHAIN: list[Json] = [
    plain(" a <b>&</b> **b** "),
    {"type": "AtAll"},
    {"type": "Unknown", "text": "[a sticker]"},
    _file("Image", "a.png"),
    plain("between, https://example.com: "),
    {"type": "Image", "url": "https://example.com/cat.png", "name": "cat"},
    _file("Voice", "a.ogg"),
    _file("Video", "a.mp4"),
    _file("File", "a.pdf"),
    {"type": "Platform", "platform": "matrix", "component_type": "m.location", "data": {"geo_uri": "geo:1,2"}},
]


async def test_every_api_does_what_it_says(world: World) -> None:
    """The probe is controlled by way of another bot, which is in a room with Ann from the start."""
    async with (
        world.bot(to_plugins(), invitations="ask") as bot,
        world.bot(to_plugins()) as other,
        world.person("Ann") as ann,
        world.person("Bob") as bob,
    ):
        asking = await ann.room(other.user_id)
        group, declined = [await _invited(ann, bob, bot, name) for name in ("a group", "declined")]

        async def probe_calls(*calls: ProbeCall) -> list[Any]:
            outcomes = await world.probe_calls(ann, asking, [call for _, call, _ in calls])
            for (name, _, expected), outcome in zip(calls, outcomes, strict=True):
                assert "answer" in outcome, (name, outcome)
                assert _holds(outcome["answer"], expected), (name, outcome)
            shown.update(name for name, _, _ in calls)
            return [outcome["answer"] for outcome in outcomes]

        shown: set[str] = set()
        await probe_calls(*_answers(bot, group, declined))
        earlier = await _send_received(world, ann, bot, group)
        sent = (await probe_calls(*_sends(bot, group)))[0]["message_id"]
        await probe_calls(*_reads(bot, ann, group, earlier), *_changes(bot, bob, group, sent, earlier))
        await ann.until(lambda: ann.members(group) == {ann.id})
        await ann.until(lambda: (group, bot.user_id) in ann.typists)
        await ann.until(lambda: len(ann.events(group, "m.room.redaction")) == 2)
        assert ann.read(group) == ["before"]
        assert ann.read(asking) == ["a reply"]
        assert [each["content"]["m.relates_to"]["key"] for each in ann.events(group, "m.reaction")] == ["👍"]
        assert ann.client.rooms[group].name == "renamed"
    EVIDENCE.hold("peer", "apis", shown)
    assert shown == set(MANIFEST.supported_apis)


ProbeCall = tuple[str, Json, Any]
"""Name, call, and the expected part of the answer."""


async def _invited(ann: Person, bob: Person, bot: Bot, name: str) -> str:
    levels = {"users": {bot.user_id: 50}}
    made = await ann.client.room_create(name=name, invite=[bot.user_id, bob.id], power_level_override=levels)
    require_success(await bob.client.join(require_success(made).room_id))
    return str(made.room_id)


async def _send_received(world: World, ann: Person, bot: Bot, room: str) -> str:
    """Sends a message in the room and returns its id when the bot has received it."""
    await ann.until(lambda: bot.user_id in ann.members(room))
    earlier = await ann.say(room, "before")

    def is_received() -> bool:
        return any(each["event_id"] == earlier for each in world.probed("events"))

    await eventually(is_received, "the bot is in the room")
    return earlier


def _answers(bot: Bot, group: str, declined: str) -> list[ProbeCall]:
    method, name = "users.answer_group_invite", "answer_group_invite"
    return [
        (name, _call(method, bot.bot_id, request_id=group, approve=True), None),
        (name, _call(method, bot.bot_id, request_id=declined, approve=False), None),
    ]


def _sends(bot: Bot, group: str) -> list[ProbeCall]:
    target = {"target_type": "group", "target_id": group}
    return [
        ("send_message", _call("messages.send", bot.bot_id, **target, chain=[plain("sent")]), None),
        ("reply_message", {"api": "reply", "arguments": {"message": "a reply", "quote": True}}, None),
        ("upload_file", _call("media.upload", bot.bot_id, content="hello", filename="a.txt"), None),
    ]


def _reads(bot: Bot, ann: Person, group: str, earlier: str) -> list[ProbeCall]:
    chat = {"chat_type": "group", "chat_id": group, "message_id": earlier}
    room, about_ann = {"id": group, "name": "a group", "member_count": 3}, {"user": {"id": ann.id}, "role": "owner"}
    calls = [
        ("get_message", "messages.get", chat, {"sender": {"id": ann.id}, "chain": [plain("before")]}),
        ("get_group_info", "groups.info", {"group_id": group}, room),
        ("get_group_list", "groups.list", {}, [room]),
        ("get_group_member_list", "groups.members", {"group_id": group}, [None, None, None]),
        ("get_group_member_info", "groups.member", {"group_id": group, "user_id": ann.id}, about_ann),
        ("get_user_info", "users.info", {"user_id": ann.id}, {"nickname": "Ann"}),
    ]
    return [(name, _call(method, bot.bot_id, **arguments), expected) for name, method, arguments, expected in calls]


def _changes(bot: Bot, bob: Person, group: str, sent: str, earlier: str) -> list[ProbeCall]:
    chat = {"chat_type": "group", "chat_id": group}
    own, others = {**chat, "message_id": sent}, {**chat, "message_id": earlier}
    forward = {"from_chat_type": "group", "from_chat_id": group, "to_chat_type": "group", "to_chat_id": group}
    calls: list[tuple[str, str, Json]] = [
        ("edit_message", "messages.edit", {**own, "chain": [plain("edited")]}),
        ("react", "messages.react", {**others, "reaction": "👍", "add": True}),
        ("react", "messages.react", {**others, "reaction": "👍", "add": True}),
        ("react", "messages.react", {**others, "reaction": "👍", "add": False}),
        ("forward_message", "messages.forward", {**forward, "message_id": earlier}),
        ("delete_message", "messages.delete", own),
        ("set_group_name", "groups.rename", {"group_id": group, "name": "renamed"}),
        ("send_typing", "messages.typing", chat),
        ("kick_member", "groups.kick", {"group_id": group, "user_id": bob.id}),
        ("leave_group", "groups.leave", {"group_id": group}),
    ]
    return [(name, _call(method, bot.bot_id, **arguments), None) for name, method, arguments in calls]


def _call(api: str, bot_id: str, **arguments: Any) -> Json:
    return {"api": api, "arguments": {"bot_id": bot_id, **arguments}}


def _holds(answer: Any, expected: Any) -> bool:
    match expected:
        case None:
            return True
        case dict():
            return isinstance(answer, dict) and all(_holds(answer.get(name), each) for name, each in expected.items())
        case list():
            return len(answer) == len(expected) and all(map(_holds, answer, expected))
    return bool(answer == expected)

"""Tests the exact form of every component that goes out, with Synapse and a real client."""

import base64
from typing import Any

from tests.platforms.onebot11.qq import to_plugins
from tests.support.harness import Json

from .person import require_success
from .world import World

PICTURE = b"not really a picture"


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


def _call(api: str, bot_id: str, **arguments: Any) -> Json:
    return {"api": api, "arguments": {"bot_id": bot_id, **arguments}}

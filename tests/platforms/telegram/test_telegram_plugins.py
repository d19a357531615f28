"""Tests updates and components of Telegram beyond the shared suite, over real HTTP."""

import json
import subprocess
import sys
from typing import Any

from parlour.platforms.telegram.connection import ALLOWED_UPDATES
from parlour.testing.telegram_simulator import Simulator
from tests.platforms.onebot11.qq import eventually, to_plugins
from tests.support.harness import Json

from .tg import Telegram

ANN, BOB, EVE = 20002, 20006, 20007
GROUP, LEFT = -1001, -1009


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
    script = "from telegram import Update; print(*(kind.value for kind in Update.ALL_TYPES))"
    printed = subprocess.run([sys.executable, "-c", script], cwd="/", capture_output=True, text=True, check=True)
    assert set(printed.stdout.split()) <= set(ALLOWED_UPDATES)


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

"""Tests that a model receives what users on Telegram see: stickers and forwards as bytes, polls and quotes as text."""

import asyncio
import base64
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.telegram_simulator import Simulator
from tests.integration.chat.test_artifacts import PNG
from tests.platforms.onebot11.qq import to_agent
from tests.support.harness import Json
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost

from .tg import Telegram

VISION_MODEL = {"primary": "second", "fallbacks": []}
AUTHOR = {"id": 8, "is_bot": False, "first_name": "Bo"}
ELSEWHERE = {"type": "user", "date": 1, "sender_user": AUTHOR}


@pytest.fixture(scope="module")
def vision_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("seeing host"))
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


async def ask(host: ScriptedModelsHost, said: Json) -> Any:
    """Returns the content of the message that the model received."""
    host.write(second=("I see",))
    simulator = Simulator()
    simulator.world.add_file(PNG, file_id="a-file")
    async with Telegram(host).bot(to_agent(host.local(model=VISION_MODEL)), simulator):
        await simulator.say(**said)
        await simulator.answered(1)
        [request] = await asyncio.to_thread(host.requests, "second")
    return request["messages"][-1]["content"]


@pytest.mark.parametrize(
    "said",
    [
        {"sticker": {"file_id": "a-file", "emoji": "😀", "is_animated": False, "is_video": False}},
        {"sticker": {"file_id": "x", "emoji": "😀", "is_video": True, "thumbnail": {"file_id": "a-file"}}},
        {"photo": [{"file_id": "a-file", "width": 1, "height": 1}], "forward_origin": ELSEWHERE},
    ],
)
async def test_a_model_gets_the_bytes_of_stickers_and_of_forwarded_pictures(
    vision_host: ScriptedModelsHost, said: Json
) -> None:
    content = await ask(vision_host, said)
    [image] = [each for each in content if each["type"] == "image"]
    assert base64.b64decode(image["content_base64"]) == PNG


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"location": {"latitude": 1.5, "longitude": 2.5}}, "[location: 1.5, 2.5]"),
        ({"poll": {"question": "Where?", "options": [{"text": "Rome"}]}}, "[poll: Where?; options: Rome]"),
        ({"contact": {"first_name": "Bo", "phone_number": "+1"}}, "[contact: Bo; +1]"),
        ({"dice": {"emoji": "🎲", "value": 4}}, "[dice: 🎲 4]"),
        (
            {"text": "why?", "external_reply": {"origin": ELSEWHERE, "photo": []}, "quote": {"text": "it rains"}},
            "> Bo wrote:\n> it rains[photo]\n\nwhy?",
        ),
        (
            {
                "text": "why?",
                "reply_to_message": {"message_id": 9, "from": AUTHOR, "date": 1, "text": "it rains and snows"},
                "quote": {"text": "it rains"},
            },
            "> Bo wrote:\n> it rains\n\nwhy?",
        ),
    ],
)
async def test_the_content_of_a_part_reaches_the_model_as_text(
    vision_host: ScriptedModelsHost, said: Json, expected: str
) -> None:
    assert await ask(vision_host, said) == expected

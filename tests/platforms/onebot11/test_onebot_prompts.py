"""Tests that a model receives what users on QQ see: pictures as bytes, cards and forwards as text,
quotes with author.
"""

import asyncio
import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from parlour.testing.onebot_simulator import Simulator, native
from tests.integration.chat.test_artifacts import PNG
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost

from .qq import QQ, to_agent
from .test_onebot_files import picture

ANN = 1
VISION_MODEL = {"primary": "second", "fallbacks": []}
CARD = json.dumps(
    {
        "app": "com.tencent.structmsg",
        "prompt": "[分享] A garden",
        "meta": {"news": {"title": "A garden", "desc": "How it grew", "jumpUrl": "https://example.org/garden"}},
    }
)


@pytest.fixture(scope="module")
def vision_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QQ]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("seeing host"), PARLOUR__TOOLS__ALLOWED_ADDRESSES="127.0.0.1/32")
    host.install(LOCAL_PLUGIN)
    host.start()
    yield QQ(host)
    host.close()


async def ask(qq: QQ, simulator: Simulator, segments: list[Any], number: int = 1) -> Any:
    """Returns the content of the last message that the model received, after it was answered."""
    host = scripted_models(qq)
    await simulator.say(segments, ANN)
    await simulator.answered(number)
    request = (await asyncio.to_thread(host.requests, "second"))[-1]
    assert "rkey" not in json.dumps(request)
    return request["messages"][-1]["content"]


def scripted_models(qq: QQ) -> ScriptedModelsHost:
    assert isinstance(qq.host, ScriptedModelsHost)
    return qq.host


def images(content: list[dict[str, Any]]) -> list[bytes]:
    return [base64.b64decode(each["content_base64"]) for each in content if each["type"] == "image"]


def words(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "".join(each["text"] for each in content if each["type"] == "text")


async def test_a_model_gets_the_bytes_of_a_picture_also_after_its_link_expired(vision_host: QQ) -> None:
    scripted_models(vision_host).write(second=("a cat", "the same cat"))
    bot = vision_host.bot(to_agent(scripted_models(vision_host).local(model=VISION_MODEL)))
    async with bot.connected() as simulator:
        async with picture() as url:
            first = await ask(vision_host, simulator, [native.text("what?"), native.segment("image", url=url)])
        await ask(vision_host, simulator, [native.text("sure?")], 2)
        history = (await asyncio.to_thread(scripted_models(vision_host).requests, "second"))[-1]["messages"]
    bot.delete()
    assert images(first) == [PNG]
    assert [each["mime_type"] for each in first if each["type"] == "image"] == ["image/png"]
    assert [images(each["content"]) for each in history if not isinstance(each["content"], str)] == [[PNG]]


async def test_a_model_gets_a_note_about_a_picture_that_is_gone(vision_host: QQ) -> None:
    scripted_models(vision_host).write(second=("a pity",))
    bot = vision_host.bot(to_agent(scripted_models(vision_host).local(model=VISION_MODEL)))
    async with bot.connected() as simulator, picture("404 Not Found") as url:
        content = await ask(
            vision_host, simulator, [native.text("what?"), native.segment("image", file="a.png", url=url)]
        )
    bot.delete()
    assert "[image: a.png; " in words(content)
    assert "such links expire" in words(content)


async def test_pictures_in_forwards_and_stickers_reach_the_model(vision_host: QQ) -> None:
    scripted_models(vision_host).write(second=("two cats",))
    bot = vision_host.bot(to_agent(scripted_models(vision_host).local(model=VISION_MODEL)))
    async with bot.connected() as simulator, picture() as url:
        simulator.world.files["named.png"] = f"{url}&named"
        named = native.segment("image", file="named.png")
        said = [native.text("look "), native.segment("image", file="cat.png", url=url), named]
        node = {"sender": {"user_id": 8, "nickname": "Bo"}, "time": 1, "message": said}
        simulator.world.forwards["77"] = [node]
        sticker = native.segment("mface", summary="[happy]", url=f"{url}&sticker")
        content = await ask(vision_host, simulator, [native.segment("forward", id="77"), sticker])
    bot.delete()
    assert images(content) == [PNG, PNG, PNG]
    assert "Bo: look [image: cat.png][image: named.png]" in words(content)


@pytest.mark.parametrize(
    ("segment", "expected"),
    [
        (native.segment("json", data=CARD), "[card: A garden; How it grew; https://example.org/garden]"),
        (
            native.segment("xml", data='<msg brief="[link] B" url="https://e.org/"><title>B &amp; C</title></msg>'),
            "[card: B & C; https://e.org/]",
        ),
        (native.segment("location", lat="1.5", lon="2.5", title="Cafe"), "[location: Cafe; 1.5, 2.5]"),
        (native.segment("share", title="News", url="https://e.org/n"), "[link: News; https://e.org/n]"),
        (native.segment("contact", type="qq", id="10001000"), "[contact: qq 10001000]"),
        (native.segment("dice", result="3"), "[dice: 3]"),
        (native.segment("json", data="{"), "[json]"),
    ],
)
async def test_a_card_reaches_the_model_as_text(vision_host: QQ, segment: dict[str, Any], expected: str) -> None:
    scripted_models(vision_host).write(second=("I see",))
    bot = vision_host.bot(to_agent(scripted_models(vision_host).local(model=VISION_MODEL)))
    async with bot.connected() as simulator:
        content = await ask(vision_host, simulator, [segment])
    bot.delete()
    assert words(content) == expected


async def test_a_quote_names_its_author(vision_host: QQ) -> None:
    scripted_models(vision_host).write(second=("first", "because"))
    bot = vision_host.bot(to_agent(scripted_models(vision_host).local(model=VISION_MODEL)))
    async with bot.connected() as simulator:
        earlier = await simulator.say("it rains", ANN)
        await simulator.answered(1)
        reply = native.segment("reply", id=str(earlier["message_id"]))
        content = await ask(vision_host, simulator, [reply, native.text("why?")], 2)
    bot.delete()
    assert words(content) == "> user 1 wrote:\n> it rains\n\nwhy?"

"""Measures how soon the platforms with streams of their own show the first text of an answer."""

import time

import pytest

from parlour.testing.adapter_suite import AdapterBench
from parlour_sdk.protocol.chain import Plain
from tests.platforms.drivers import PLATFORMS

MAX_SECONDS = 0.3


@pytest.mark.quiet
@pytest.mark.parametrize("platform", ["lark", "dingtalk", "wecombot", "qqofficial"])
async def test_the_first_text_is_shown_within_300_ms_and_the_last_one_is_complete(platform: str) -> None:
    driver = PLATFORMS[platform].driver()
    async with AdapterBench.running(driver) as bench:
        chat = await driver.chat()
        await driver.say(chat, "hello")
        await bench.link.until(lambda: any(each.event.type == "message.received" for each in bench.link.incoming))
        began = time.monotonic()
        stream = await bench.adapter.api().open_stream("private", chat.id, "key")
        await stream.append("first")
        await driver.until(lambda: [text.strip() for text in driver.read(chat)] == ["first"])
        assert time.monotonic() - began < MAX_SECONDS
        await stream.finish([Plain(text="first and last")])
        await driver.until(lambda: driver.read(chat) == ["first and last"])

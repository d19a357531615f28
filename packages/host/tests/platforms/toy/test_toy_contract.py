"""The toy platform of the guide is small and passes the rows of the shared adapter suite that need no Host."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import parlour.testing.toy_platform as package
from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, AdapterStopped, HostLink, PlatformRefused
from parlour.platforms.manifests import read_manifest
from parlour.testing.adapter_suite import AdapterBench, PlatformDriver, Probe, Row, SuiteChat, rows_of
from parlour.testing.adapter_suite.driver import WAIT_SECONDS
from parlour.testing.memory_link import MemoryLink
from parlour.testing.native_payloads import read_samples
from parlour.testing.toy_platform.adapter import ToyAdapter, ToyApi
from parlour.testing.toy_platform.simulator import TOKEN, ToySimulator
from parlour_sdk.protocol.chain import MessageChain, Plain, Unknown
from parlour_sdk.protocol.people import ChatType

FOLDER = Path(package.__file__).parent
MAX_LINES = 150


class ToyDriver(PlatformDriver):
    manifest = read_manifest(FOLDER / "manifest.yaml")
    api = ToyApi
    samples = read_samples(FOLDER / "samples")
    token = TOKEN

    def __init__(self) -> None:
        self.simulator = ToySimulator()
        self._numbers = count(1)
        self._last: dict[str, Any] = {}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self.simulator.listening() as url:
            self.config = {"url": url, "token": TOKEN, "proxy": "direct"}
            yield

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return ToyAdapter(link, backoff)

    async def until(self, condition: Callable[[], bool], seconds: float = WAIT_SECONDS) -> None:
        raise NotImplementedError  # only rows with a Host or an acknowledgement wait for the platform

    async def chat(self, kind: ChatType = "private") -> SuiteChat:
        return SuiteChat("private", f"person{next(self._numbers)}")

    async def say(self, chat: SuiteChat, text: str) -> None:
        self._last = self.simulator.message(text, sender=chat.id, chat=chat.id)
        await self.simulator.report(self._last)

    def read(self, chat: SuiteChat) -> list[str]:
        return [str(each["text"]) for each in self.simulator.sent if each["chat"] == chat.id]

    async def deliver(self, native: Any) -> None:
        await self.simulator.report(native)

    async def repeat(self) -> None:
        await self.simulator.report(self._last)

    async def echo(self, chat: SuiteChat) -> None:
        await self.simulator.report(self.simulator.message("I said this myself", sender="bot", chat=chat.id))

    async def malformed(self, chat: SuiteChat, seed: int, number: int) -> None:
        chance = random.Random(seed)
        values = [None, 1, "x", [], {}, {"id": 5}, True]
        for each in range(number):
            payload = {name: chance.choice(values) for name in ("id", "from", "chat", "text")}
            await self.simulator.report({**payload, "number": each})
        for text in ("", "[]", "{", "null", "\\ud800"):
            await self.simulator.report(text)

    def components(self, chat: SuiteChat) -> MessageChain:
        return [Plain(text="hello 👋 <b>")]

    async def reflect(self, chat: SuiteChat) -> int:
        texts = self.read(chat)
        for text in texts:
            await self.say(chat, text)
        return len(texts)

    async def use_apis(self, probe: Probe) -> None:
        raise NotImplementedError

    async def cut(self) -> None:
        await self.simulator.cut()

    async def cut_for_long(self, times: int) -> None:
        self.simulator.refusals = times
        await self.simulator.cut()

    def refuse_send(self, retry_after: float | None = None) -> None:
        raise NotImplementedError

    def cut_send(self, happens: bool) -> None:
        raise NotImplementedError

    def stay_silent(self) -> None:
        raise NotImplementedError


ROWS = [row for row in rows_of(ToyDriver.manifest) if not row.on_host]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_the_toy_platform_passes_the_row(row: Row) -> None:
    async with AdapterBench.running(ToyDriver()) as bench:
        await row.check(bench)


def test_the_adapter_has_fewer_lines_than_promised() -> None:
    modules = [FOLDER / "__init__.py", FOLDER / "adapter.py"]
    assert sum(len(module.read_text(encoding="utf-8").splitlines()) for module in modules) < MAX_LINES


async def test_a_wrong_token_stops_the_bot_and_an_empty_message_is_refused() -> None:
    driver = ToyDriver()
    async with driver.running():
        link = MemoryLink({**driver.config, "token": "wrong"})
        with pytest.raises(AdapterStopped, match="token"):
            await asyncio.wait_for(ToyAdapter(link, Backoff(0.01)).serve(), 10)
        adapter = ToyAdapter(MemoryLink(driver.config), Backoff(0.01))
        with pytest.raises(PlatformRefused, match="nothing in this message"):
            await adapter.api().send_message("private", "ann", [Unknown(text="")])

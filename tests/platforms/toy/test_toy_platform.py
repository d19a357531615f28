"""Tests the simulator base and the rows without a Host with the smallest platform that can join the suite."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession

from parlour.core.backoff import Backoff
from parlour.core.platforms.port import Adapter, HostLink
from parlour.testing.adapter_suite import AdapterBench, Row, SuiteChat, rows_of
from parlour.testing.simulator import InvalidRequest, SingleUseTokens

from .adapter import ToyAdapter, ToyApi
from .driver import MAX_TEXT, TOKEN, ToyDriver

ROWS = [row for row in rows_of(ToyDriver.manifest) if not row.on_host]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_small_platform_passes_the_row(row: Row) -> None:
    async with AdapterBench.running(ToyDriver()) as bench:
        await row.check(bench)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_row_fails_for_an_adapter_that_breaks_its_promise(row: Row) -> None:
    """The samples, components and behaviours of this platform are wrong in every way."""
    async with AdapterBench.running(WrongDriver()) as bench:
        with pytest.raises((AssertionError, TimeoutError, NotImplementedError)):
            async with asyncio.timeout(0.2):
                await row.check(bench)


class WrongApi(ToyApi):
    async def leave_group(self, group_id: str) -> None: ...


class WrongAdapter(ToyAdapter):
    def api(self, account: str = "") -> ToyApi:
        return WrongApi(self._link.config)


class WrongDriver(ToyDriver):
    """Drops every message of a user, has one sample twice, and its adapter has a call that is not declared."""

    api = WrongApi
    samples = ToyDriver.samples[:1] * 2

    def create(self, link: HostLink, backoff: Backoff) -> Adapter:
        return WrongAdapter(link, backoff)

    async def say(self, chat: SuiteChat, text: str, user: str = "") -> None: ...


SEND = {"chat": "ann", "text": "hello"}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({**SEND, "color": "red"}, "color is not known"),
        ({"chat": "ann"}, "text is missing"),
        ({**SEND, "text": 7}, "text must be a text"),
        ({**SEND, "text": "x" * (MAX_TEXT + 1)}, f"text must have 1 to {MAX_TEXT} characters"),
        ({**SEND, "chat": "nowhere"}, "chat does not exist"),
        (["hello"], "body must be an object"),
    ],
)
async def test_a_simulator_refuses_an_invalid_request(body: Any, error: str) -> None:
    driver = ToyDriver()
    driver.simulator.world.add_chat("ann", "ann")
    async with driver.running():
        assert await answer(driver, body) == (400, {"error": error})
        assert driver.simulator.sent() == []


async def test_a_simulator_refuses_a_wrong_token_and_too_many_calls() -> None:
    driver = ToyDriver()
    driver.simulator.world.add_chat("ann", "ann")
    driver.simulator.rate = (1, 60.0)
    async with driver.running():
        assert (await answer(driver, SEND, "wrong"))[0] == 401
        assert (await answer(driver, SEND))[0] == 200
        status, refusal = await answer(driver, SEND)
    assert (status, refusal["error"]) == (429, "busy")
    assert 0 < refusal["retry_after"] <= 60
    assert driver.simulator.texts("ann") == ["hello"]


def test_a_single_use_token_is_accepted_once() -> None:
    tokens = SingleUseTokens()
    token = tokens.issue()
    tokens.use(token)
    for refused in (token, "never issued"):
        with pytest.raises(InvalidRequest):
            tokens.use(refused)


async def answer(driver: ToyDriver, body: Any, token: str = TOKEN) -> tuple[int, Any]:
    url = f"{driver.config['url']}/send"
    async with ClientSession() as session, session.post(url, json=body, headers={"Authorization": token}) as response:
        return response.status, await response.json()

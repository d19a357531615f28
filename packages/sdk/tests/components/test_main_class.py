"""Tests a plugin's main class: it is initialized before other calls are answered and closed last."""

import asyncio
from typing import Any

import pytest

from parlour_sdk.api import PluginAPI
from parlour_sdk.components import AgentRunner, Plugin
from parlour_sdk.wire import WireError

from .support import loaded, serving


class Hello(Plugin):
    def __init__(self) -> None:
        self.may_start = asyncio.Event()
        self.seen: list[Any] = []

    async def initialize(self, api: PluginAPI) -> None:
        await self.may_start.wait()
        self.seen.append((await api.host.version()).version)

    async def close(self) -> None:
        self.seen.append("closed")


class Runner(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        raise AssertionError("no run is requested here")
        yield


async def test_calls_wait_until_the_plugin_is_initialized() -> None:
    main = Hello()
    async with serving(loaded(main=main, runners={"default": Runner()})) as connection:
        connection.host.answers["get_host_version"] = {"version": "1.2", "protocol": 1}
        listing = asyncio.ensure_future(connection.peer.call("list_agent_runners"))
        running = asyncio.ensure_future(_first(connection))
        initializing = asyncio.ensure_future(connection.service.initialize())
        await connection.peer.call("ping")
        assert not listing.done()
        main.may_start.set()
        await asyncio.wait_for(listing, 30)
        assert await asyncio.wait_for(running, 30) == "invalid_argument"
        await initializing
    assert main.seen == ["1.2"]


async def _first(connection: Any) -> str:
    try:
        async for _ in connection.peer.stream("run_agent", {}):
            pass
    except WireError as error:
        return error.code
    return "ended"


async def test_a_plugin_is_closed_only_if_it_was_initialized() -> None:
    main = Hello()
    async with serving(loaded(main=main)) as connection:
        await connection.service.close()
        assert main.seen == []
        connection.host.answers["get_host_version"] = {"version": "1.2", "protocol": 1}
        main.may_start.set()
        await connection.service.initialize()
        await connection.service.close()
    assert main.seen == ["1.2", "closed"]


async def test_a_plugin_can_be_stopped_before_it_is_initialized() -> None:
    async with serving(loaded(main=Hello())) as connection:
        await connection.peer.call("shutdown", {})
        assert connection.service.stopping.is_set()


async def test_a_main_class_needs_no_methods_of_its_own() -> None:
    class Bare(Plugin):
        pass

    async with serving(loaded(main=Bare())) as connection:
        await connection.service.initialize()
        await connection.service.close()
        assert await connection.peer.call("list_components") == {"components": []}


async def test_a_failed_initialization_is_raised_to_the_caller() -> None:
    class Failing(Plugin):
        async def initialize(self, api: PluginAPI) -> None:
            raise RuntimeError("no database")

    async with serving(loaded(main=Failing())) as connection:
        with pytest.raises(RuntimeError, match="no database"):
            await connection.service.initialize()

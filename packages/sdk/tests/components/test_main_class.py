"""A plugin's main class: first when it starts, last when it ends."""

import asyncio
from typing import Any

import pytest

from parlour_sdk.api import PluginAPI
from parlour_sdk.components import AgentRunner, Plugin
from parlour_sdk.wire import WireError

from .support import loaded, serving


class Hello(Plugin):
    def __init__(self) -> None:
        self.may_begin = asyncio.Event()
        self.seen: list[Any] = []

    async def initialize(self, api: PluginAPI) -> None:
        await self.may_begin.wait()
        self.seen.append((await api.host.version()).version)

    async def close(self) -> None:
        self.seen.append("closed")


class Runner(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> Any:
        raise AssertionError("nobody asked for a run")
        yield


async def test_what_is_asked_before_the_plugin_has_initialized_waits_for_it() -> None:
    main = Hello()
    async with serving(loaded(main=main, runners={"default": Runner()})) as line:
        line.host.answers["get_host_version"] = {"version": "1.2", "protocol": 1}
        asking = asyncio.ensure_future(line.peer.call("list_agent_runners"))
        running = asyncio.ensure_future(_first(line))
        initializing = asyncio.ensure_future(line.service.initialize())
        await line.peer.call("ping")
        assert not asking.done()
        main.may_begin.set()
        await asyncio.wait_for(asking, 30)
        assert await asyncio.wait_for(running, 30) == "invalid_argument"
        await initializing
    assert main.seen == ["1.2"]


async def _first(line: Any) -> str:
    try:
        async for _ in line.peer.stream("run_agent", {}):
            pass
    except WireError as error:
        return error.code
    return "ended"


async def test_a_plugin_is_told_of_its_end_only_if_it_had_begun() -> None:
    main = Hello()
    async with serving(loaded(main=main)) as line:
        await line.service.close()
        assert main.seen == []
        line.host.answers["get_host_version"] = {"version": "1.2", "protocol": 1}
        main.may_begin.set()
        await line.service.initialize()
        await line.service.close()
    assert main.seen == ["1.2", "closed"]


async def test_a_plugin_can_be_stopped_before_it_has_initialized() -> None:
    async with serving(loaded(main=Hello())) as line:
        await line.peer.call("shutdown", {})
        assert line.service.stopping.is_set()


async def test_a_main_class_needs_no_methods_of_its_own() -> None:
    class Bare(Plugin):
        pass

    async with serving(loaded(main=Bare())) as line:
        await line.service.initialize()
        await line.service.close()
        assert await line.peer.call("list_components") == {"components": []}


async def test_an_initialization_that_fails_is_told_to_whoever_started_it() -> None:
    class Failing(Plugin):
        async def initialize(self, api: PluginAPI) -> None:
            raise RuntimeError("no database")

    async with serving(loaded(main=Failing())) as line:
        with pytest.raises(RuntimeError, match="no database"):
            await line.service.initialize()

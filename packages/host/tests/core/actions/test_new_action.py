"""Adds a toy action at the five places that a plugin action has in the code, and uses it through all layers.

The sixth file is the page for plugin authors, `docs/plugins/api.md`. An action that needs a further place fails here.
"""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parlour.core.actions.host import HostInfoActions
from parlour.core.errors import CallRejected
from parlour_sdk import results
from parlour_sdk.api.host import HostAPI
from parlour_sdk.components import AgentRunner
from parlour_sdk.protocol.base import Tolerant
from parlour_sdk.protocol.calls import Call
from parlour_sdk.protocol.host_actions import HOST_ACTIONS, HostAction
from parlour_sdk.results import Result
from parlour_sdk.testing import FakeHost
from parlour_sdk.testing.served.catalog import HostCatalog
from tools.protocol_documents.schema import tables

from ..support import PuppetRun, World

REPOSITORY = Path(__file__).parents[5]
PLACES = (
    "packages/sdk/src/parlour_sdk/protocol/host.py",
    "packages/sdk/src/parlour_sdk/protocol/host_actions.py",
    "packages/sdk/src/parlour_sdk/api/host.py",
    "packages/sdk/src/parlour_sdk/testing/served/catalog.py",
    "packages/host/src/parlour/core/actions/host.py",
    "docs/plugins/api.md",
)
"""Files that an action of an existing namespace touches, for the namespace `host`."""
ACTION = "get_host_version"


class Echo(Call):
    text: str


class Echoed(Tolerant):
    text: str


async def echo(self: Any, caller: Any, request: Echo) -> Echoed:
    return Echoed(text=request.text)


async def echo_client(self: HostAPI, text: str) -> Echoed:
    return await self._calls.call("echo", Echo, Echoed, text=text)


class EchoRunner(AgentRunner):
    async def run(self, ctx: Any, api: Any) -> AsyncGenerator[Result, None]:
        yield results.completed((await api.host.echo("from the run")).text)


@pytest.fixture(autouse=True)
def toy_action(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOST_ACTIONS, "echo", HostAction("echo", Echo, Echoed, "either", max_bytes=200))
    monkeypatch.setattr(HostAPI, "echo", echo_client, raising=False)
    for group in (HostInfoActions, HostCatalog):
        declared = group.handlers

        def handlers(self: Any, declared: Any = declared) -> dict[str, Any]:
            return {**declared(self), "echo": lambda caller, request: echo(self, caller, request)}

        monkeypatch.setattr(group, "handlers", handlers)


async def start_run() -> tuple[World, PuppetRun]:
    world = await World.open()
    await world.say("hi")
    return world, await world.plugins.next_run()


async def test_host_serves_the_action_within_its_size_limit() -> None:
    world, run = await start_run()
    assert await world.call(run, "echo", text="hi") == {"text": "hi"}
    with pytest.raises(CallRejected) as refusal:
        await world.call(run, "echo", text="x" * 200)
    assert refusal.value.code == "payload_too_large"


async def test_rerun_refuses_an_action_without_dry_run_treatment() -> None:
    world, run = await start_run()
    session = world.core.sessions.get(run.run_id)
    assert session is not None
    session.identity = replace(session.identity, dry_run=object())  # type: ignore[arg-type]
    with pytest.raises(CallRejected) as refusal:
        await world.call(run, "echo", text="hi")
    assert refusal.value.code == "denied"


async def test_runner_calls_the_action_in_a_fake_host() -> None:
    fake = FakeHost()
    run = await fake.run(EchoRunner(), "hi")
    assert run.text == "from the run"
    assert [call.action for call in fake.calls] == ["echo"]


def test_generated_documents_list_the_action() -> None:
    assert tables()["towards_host"]["echo"]["where"] == "either"


def test_action_is_named_in_at_most_six_files() -> None:
    sources = [REPOSITORY / "packages/sdk/src", REPOSITORY / "packages/host/src"]
    found = [path for source in sources for path in source.rglob("*.py") if ACTION in path.read_text(encoding="utf-8")]
    assert {str(path.relative_to(REPOSITORY)) for path in found} <= set(PLACES)
    assert all((REPOSITORY / place).exists() for place in PLACES)

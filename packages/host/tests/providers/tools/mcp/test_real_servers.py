"""Widely used MCP servers are listed, called, killed in mid-call and reconnected."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest
import pytest_asyncio

from parlour.core.model.providers import ProviderFailed
from parlour.providers.tools.mcp.servers import McpServers
from parlour_sdk.protocol.content import JsonElement, MediaElement, plain_text

from ..sources import ASKING
from .real_servers import connecting, everything, filesystem, processes, settled, time_server

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Connected(NamedTuple):
    servers: McpServers
    folder: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def connected(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Connected]:
    folder = tmp_path_factory.mktemp("some files").resolve()
    async with connecting(time_server(), everything(), filesystem(folder)) as servers:
        for name in ("clock", "everything", "files"):
            status = await settled(servers, name)
            assert status.state == "connected", status.last_error
        yield Connected(servers, folder)
    assert processes("mcp") == []


async def test_servers_of_both_protocol_revisions_are_connected(connected: Connected) -> None:
    versions = [connected.servers.status(name).identity.protocol_version for name in ("clock", "everything")]
    assert versions == ["2026-07-28", "2025-11-25"]


async def test_tools_have_the_name_of_their_server_and_a_read_only_flag(connected: Connected) -> None:
    offers = {each.tool_name: each.read_only for each in connected.servers.tools()}
    assert offers["clock.get_current_time"]
    assert offers["files.read_text_file"]
    assert not offers["files.write_file"]


async def test_tools_are_called_and_answer(connected: Connected) -> None:
    servers, folder = connected
    written = {"path": str(folder / "a file.txt"), "content": "hello"}
    await servers.call(ASKING, "files.write_file", written)
    assert (folder / "a file.txt").read_text() == "hello"
    read = await servers.call(ASKING, "files.read_text_file", {"path": str(folder / "a file.txt")})
    assert plain_text(read.content) == "hello"
    shown = await servers.call(ASKING, "clock.get_current_time", {"timezone": "Asia/Tokyo"})
    assert "Asia/Tokyo" in plain_text(shown.content)
    image = await servers.call(ASKING, "everything.get-tiny-image", {})
    assert [each.mime_type for each in image.content if isinstance(each, MediaElement)] == ["image/png"]


async def test_resources_are_listed_and_read(connected: Connected) -> None:
    listing = connected.servers.status("everything").listing
    resource_uri = next(each.uri for each in listing.resources if not each.is_template)
    assert any(each.is_template and "{" in each.uri for each in listing.resources)
    offer = next(each for each in connected.servers.tools() if each.tool_name == "everything.read_resource")
    assert offer.read_only
    assert resource_uri in offer.description
    read = await connected.servers.call(ASKING, "everything.read_resource", {"uri": resource_uri})
    assert (read.is_error, bool(plain_text(read.content))) == (False, True)
    unknown = await connected.servers.call(ASKING, "everything.read_resource", {"uri": "demo://no/such"})
    assert unknown.is_error


async def test_prompts_are_listed_and_filled_in(connected: Connected) -> None:
    listed = {each.name: each for each in connected.servers.status("everything").listing.prompts}
    prompt = listed["args-prompt"]
    assert [(each.name, each.required) for each in prompt.arguments] == [("city", True), ("state", False)]
    wanted = {"name": "args-prompt", "arguments": {"city": "Oslo"}}
    filled = await connected.servers.call(ASKING, "everything.get_prompt", wanted)
    [value] = filled.content
    assert isinstance(value, JsonElement)
    assert [each["role"] for each in value.value["messages"]] == ["user"]
    assert "Oslo" in value.value["messages"][0]["content"]


async def test_servers_without_resources_and_prompts_offer_only_tools(connected: Connected) -> None:
    names = {each.tool_name for each in connected.servers.tools()}
    assert not names & {"clock.read_resource", "clock.get_prompt", "files.read_resource", "files.get_prompt"}


async def test_a_refusal_of_a_server_is_passed_to_the_model(connected: Connected) -> None:
    outcome = await connected.servers.call(ASKING, "files.read_text_file", {"path": "/etc/passwd"})
    assert outcome.is_error
    assert "outside allowed directories" in plain_text(outcome.content)


@pytest.mark.parametrize(
    ("program", "tool", "arguments"),
    [
        ("server-everything", "everything.echo", {"message": "here"}),
        ("server-filesystem", "files.list_allowed_directories", {}),
        ("mcp_server_time", "clock.get_current_time", {"timezone": "UTC"}),
    ],
)
async def test_a_server_killed_in_mid_call_is_reported_and_restarted_for_the_next_call(
    connected: Connected, program: str, tool: str, arguments: dict[str, Any]
) -> None:
    servers, name = connected.servers, tool.partition(".")[0]
    (process,) = processes(program)
    process.suspend()  # a call arrives there and is not answered
    calling = asyncio.ensure_future(servers.call(ASKING, tool, arguments))
    await call_another_server(servers, name)
    assert not calling.done()

    process.kill()
    with pytest.raises(ProviderFailed, match=r"went away during the call; whether it acted is not known") as failed:
        await asyncio.wait_for(calling, 60)
    assert "ended with status -9" in failed.value.message
    assert (await servers.call(ASKING, tool, arguments)).is_error is False
    assert [each.pid for each in processes(program)] != [process.pid]
    assert (servers.status(name).state, servers.status(name).last_error) == ("connected", "")


async def call_another_server(servers: McpServers, name: str) -> None:
    """Calls another server. Calls are sent in order, so every earlier call has been sent too."""
    clock = ("clock.get_current_time", {"timezone": "UTC"})
    tool, arguments = clock if name != "clock" else ("everything.echo", {"message": "there"})
    assert (await servers.call(ASKING, tool, arguments)).is_error is False


async def test_a_killed_worker_process_is_restarted_with_its_servers(connected: Connected) -> None:
    (worker,) = processes("providers.tools.mcp.worker")
    calling = asyncio.ensure_future(
        connected.servers.call(ASKING, "everything.trigger-long-running-operation", {"duration": 300, "steps": 300})
    )
    assert (await connected.servers.call(ASKING, "everything.echo", {"message": "one"})).is_error is False
    servers = worker.children(recursive=True)
    worker.kill()
    with pytest.raises(ProviderFailed, match="the process that talks to MCP servers ended"):
        await asyncio.wait_for(calling, 60)
    outcome = await connected.servers.call(ASKING, "clock.get_current_time", {"timezone": "UTC"})
    assert "UTC" in plain_text(outcome.content)
    assert len(servers) == 3
    assert psutil.wait_procs(servers, 30)[1] == [], "servers outlive the worker process"


async def test_a_cancelled_call_does_not_block_later_calls(connected: Connected) -> None:
    long = {"duration": 300, "steps": 300}
    calling = asyncio.ensure_future(connected.servers.call(ASKING, "everything.trigger-long-running-operation", long))
    assert (await connected.servers.call(ASKING, "everything.echo", {"message": "one"})).is_error is False
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert (await connected.servers.call(ASKING, "everything.echo", {"message": "two"})).is_error is False

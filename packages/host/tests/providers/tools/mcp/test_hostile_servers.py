"""Misbehaving servers over stdio are bounded and reported, and do not affect other servers."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from parlour.core.model.mcp_server import McpServer
from parlour.core.model.providers import ProviderFailed
from parlour.providers.tools.mcp.servers import McpServers
from parlour.providers.tools.sanitize import MAX_RESULT_BYTES
from parlour_sdk.protocol.content import MediaElement, TextElement, plain_text

from ..sources import ASKING
from .real_servers import connecting, hostile, settled

pytestmark = pytest.mark.asyncio(loop_scope="module")
MANNERS = ("garbage", "names", "line", "exit")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers() -> AsyncIterator[McpServers]:
    async with connecting(*map(hostile, MANNERS)) as made:
        for manner in MANNERS:
            status = await settled(made, manner)
            assert status.state == "connected", status.last_error
        yield made


async def test_invalid_lines_do_not_affect_later_messages(servers: McpServers) -> None:
    assert plain_text((await servers.call(ASKING, "garbage.act", {})).content) == "acted"


async def test_unusable_tools_are_left_out_with_reasons(servers: McpServers) -> None:
    listing = servers.status("names").listing
    assert [tool.name for tool in listing.tools] == ["noise", "large", "controls", "picture", "data", "act"]
    assert len(listing.left_out) == 5
    assert "it lists two tools named 'act'; the first one counts" in listing.left_out
    assert "the schema of its tool 'deep' is too large or too deep" in listing.left_out


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        ("noise", "[5120 characters of binary data, which is not text]"),
        ("controls", "a plain sentence [31mwith colour in it"),
    ],
)
async def test_binary_and_control_characters_are_removed(servers: McpServers, tool: str, text: str) -> None:
    assert plain_text((await servers.call(ASKING, f"garbage.{tool}", {})).content) == text


async def test_a_large_answer_is_cut_and_marked_as_truncated(servers: McpServers) -> None:
    outcome = await servers.call(ASKING, "garbage.large", {})
    assert outcome.truncated
    assert MAX_RESULT_BYTES < len(plain_text(outcome.content)) < MAX_RESULT_BYTES + 200


async def test_a_picture_comes_whole_and_large_data_as_text(servers: McpServers) -> None:
    (picture,) = (await servers.call(ASKING, "garbage.picture", {})).content
    assert isinstance(picture, MediaElement)
    assert len(picture.content_base64 or "") > 1024 * 1024
    (data,) = (await servers.call(ASKING, "garbage.data", {})).content
    assert isinstance(data, TextElement)
    assert data.text.startswith('{"rows":[{"n":0},')


async def test_an_endless_line_ends_only_its_server(servers: McpServers) -> None:
    with pytest.raises(ProviderFailed, match="it sent a line of more than 8388608 bytes"):
        await servers.call(ASKING, "line.act", {})
    assert plain_text((await servers.call(ASKING, "garbage.act", {})).content) == "acted"


async def test_the_last_output_of_a_server_that_exits_is_reported(servers: McpServers) -> None:
    with pytest.raises(ProviderFailed, match="its process ended with status 7: there is no way on"):
        await servers.call(ASKING, "exit.act", {})


async def test_a_missing_command_is_reported(servers: McpServers) -> None:
    status = await servers.test(McpServer("", "x", "stdio", command="no such command"))
    assert status.last_error == "its command 'no such command' can't be started: No such file or directory"

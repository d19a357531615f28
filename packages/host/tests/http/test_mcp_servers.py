"""Tests the validation of MCP servers before they are connected, and that their secrets are never shown."""

from typing import Any

import pytest
from pydantic import ValidationError

from parlour.core.config.mcp_servers import McpServerRepository
from parlour.core.system import SystemClock
from parlour.http.errors import Problem
from parlour.http.mcp_servers.mapping import ChangeRequester, McpServerMapper, audit_view
from parlour.http.mcp_servers.schemas import McpServerBody
from parlour.testing.memory_journal import MemoryJournal

REMOTE: dict[str, Any] = {"name": "files", "url": "https://files.example/mcp"}


class ReversingBox:
    def seal(self, secret: str) -> str:
        return secret[::-1]

    def open(self, sealed: str) -> str:
        return sealed[::-1]


def mapper(allow_unsandboxed: bool = False) -> McpServerMapper:
    return McpServerMapper(
        McpServerRepository(MemoryJournal(), SystemClock()), ReversingBox(), {"time"}, allow_unsandboxed
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"url": "files.example"}, "must look like https://example.org/mcp"),
        ({"url": "https://files.example/a b"}, "must look like https://example.org/mcp"),
        ({"url": "file:///etc/passwd"}, "must look like https://example.org/mcp"),
        ({"url": "https://me:secret@files.example/"}, "put secrets into headers"),
        ({"headers": {"Authorization": " Bearer x"}}, "spaces around it"),
        ({"headers": {"Authorization": "Bearer x\r\nHost: y"}}, "line breaks"),
        ({"headers": {"No Space": "x"}}, "can't be a header"),
        ({"headers": {"Host": "x"}}, "can't be a header"),
        ({"command": "x"}, "takes no command"),
        ({"transport": "stdio"}, "needs a command"),
        ({"name": "a.b"}, "should match pattern"),
    ],
)
def test_an_unusable_server_is_refused_without_repeating_a_secret(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        McpServerBody.model_validate({**REMOTE, **change})
    (error,) = refused.value.errors(include_input=False)
    assert message in error["msg"]
    assert "secret" not in error["msg"].replace("secrets", "")


STDIO: dict[str, Any] = {"name": "files", "transport": "stdio", "command": "node", "arguments": ["a.js"]}
CONFIRMED = {**STDIO, "confirmation": " Run without a SANDBOX "}
ADA = ChangeRequester("user:ada", 1000)
KEY = ChangeRequester("", 1000)


def body(**fields: Any) -> McpServerBody:
    return McpServerBody.model_validate(fields)


def test_a_process_is_refused_until_a_person_confirms_it() -> None:
    for given, by in ((STDIO, ADA), ({**STDIO, "confirmation": "yes"}, ADA), (STDIO, KEY)):
        with pytest.raises(Problem, match=r"confirmation: .* 'run without a sandbox'") as refused:
            mapper().to_server("1", body(**given), requester=by)
        assert refused.value.status == 422
    server = mapper().to_server("1", body(**CONFIRMED), requester=ADA)
    assert (server.command, server.unsandboxed_by, server.unsandboxed_at) == ("node", "user:ada", 1000)


def test_an_api_key_can_not_confirm_a_process() -> None:
    with pytest.raises(Problem, match=r"confirmation: an API key can't confirm this; log in as an owner or admin"):
        mapper().to_server("1", body(**CONFIRMED), requester=KEY)


def test_the_operators_setting_allows_every_process() -> None:
    for given in (STDIO, CONFIRMED):
        assert mapper(allow_unsandboxed=True).to_server("1", body(**given), requester=KEY).unsandboxed_by == ""


@pytest.mark.parametrize(
    "change",
    [
        {"command": "python"},
        {"arguments": ["b.js"]},
        {"environment": {"A": "********", "NODE_OPTIONS": "--require evil.js"}},
        {"environment": {"A": "another"}},
        {"environment": {}},
    ],
)
def test_a_confirmation_is_valid_for_one_command_and_its_environment(change: dict[str, Any]) -> None:
    before = mapper().to_server("1", body(**CONFIRMED, environment={"A": "b"}), requester=ADA)
    same = mapper().to_server("1", body(**{**STDIO, "name": "other", "environment": {"A": "********"}}), before, KEY)
    assert (same.unsandboxed_by, same.name) == ("user:ada", "other")
    with pytest.raises(Problem, match="confirmation"):
        mapper().to_server("1", body(**{**STDIO, "environment": {"A": "********"}, **change}), before, ADA)


def test_secrets_are_encrypted_masked_and_kept_when_the_mask_is_sent_back() -> None:
    first = mapper().to_server("1", McpServerBody.model_validate({**REMOTE, "headers": {"X-Key": "abc"}}))
    assert (first.headers, audit_view(first)["headers"]) == ({"X-Key": "cba"}, {"X-Key": "********"})
    again = McpServerBody.model_validate({**REMOTE, "headers": {"X-Key": "********", "X-Other": "de"}})
    assert mapper().to_server("1", again, first).headers == {"X-Key": "cba", "X-Other": "ed"}

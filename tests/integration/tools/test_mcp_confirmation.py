"""Tests that a local command becomes an MCP server when a person confirms it with a phrase, without editing a file."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.access.test_accounts import PASSWORD, Person, browser, logged_in
from tests.support.harness import ROOT, Host, error_code, eventually, named_fields

SCRIPT = str(ROOT / "tests" / "fixtures" / "plugins" / "library_server.py")
LIBRARY = {"name": "library", "transport": "stdio", "command": sys.executable, "arguments": [SCRIPT]}
CONFIRMATION = {"confirmation": "run without a sandbox"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("confirmed"))
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def owner(host: Host) -> Person:
    http = browser(host)
    answer = http.post("/auth/setup", json={"email": "ada@example.org", "password": PASSWORD, "name": "Ada"})
    assert answer.status_code == 201, answer.text
    return Person(http, answer.json())


def post(person: Person, path: str, body: dict[str, Any]) -> Any:
    return person.http.post(path, json=body, headers=person.token)


def test_a_command_does_not_run_before_it_is_confirmed(host: Host, owner: Person, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    touch = {"name": "touch", "transport": "stdio", "command": "/usr/bin/touch", "arguments": [str(ran)]}
    for path in ("/mcp-servers", "/mcp-servers/test"):
        refused = post(owner, path, touch)
        assert (refused.status_code, named_fields(refused)) == (422, ["confirmation"])
        by_key = host.http().post(path, json={**touch, **CONFIRMATION})
        assert (by_key.status_code, named_fields(by_key)) == (422, ["confirmation"])
    body = {"email": "eve@example.org", "password": PASSWORD, "name": "Eve", "role": "operator"}
    assert post(owner, "/users", body).status_code == 201
    by_operator = post(logged_in(host, "eve@example.org"), "/mcp-servers", {**touch, **CONFIRMATION})
    assert (by_operator.status_code, error_code(by_operator)) == (403, "forbidden")
    assert not ran.exists()
    assert host.items("/mcp-servers") == []


def test_a_confirmed_command_is_connected_and_audited_also_after_a_restart(host: Host, owner: Person) -> None:
    made = post(owner, "/mcp-servers", {**LIBRARY, **CONFIRMATION})
    assert made.status_code == 201, made.text
    server = made.json()
    user = f"user:{owner.me['user_id']}"
    assert (server["unsandboxed_by"], server["unsandboxed_at"] > 0) == (user, True)

    def tools() -> list[str]:
        status = host.http().get(f"/mcp-servers/{server['server_id']}").json()["status"]
        return [tool["name"] for tool in status["tools"]]

    assert eventually(tools, "the server is connected") == ["borrow"]
    [entry] = [each for each in host.items("/audit") if each["resource"] == server["server_id"]]
    assert (entry["actor"], entry["detail"]["after"]["unsandboxed_by"]) == (user, user)

    host.restart()
    assert eventually(tools, "the server is connected again") == ["borrow"]

    path = f"/mcp-servers/{server['server_id']}"
    key = host.http()
    renamed = key.put(path, json={**LIBRARY, "name": "books"})
    assert renamed.status_code == 200, renamed.text
    other = key.put(path, json={**LIBRARY, "arguments": ["-c", "print()"]})
    assert (other.status_code, named_fields(other)) == (422, ["confirmation"])

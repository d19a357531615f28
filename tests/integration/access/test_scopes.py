"""Tests the permissions of a key of each scope, endpoint by endpoint."""

import pytest

from tests.support.commands import parlour_here
from tests.support.harness import Host, error_code, message

SCOPES = ("admin", "operator", "viewer", "chat", "platform", "mcp", "worker")
ALL_SCOPES = frozenset(SCOPES) - {"worker"}
READERS = frozenset(("admin", "operator", "viewer"))
CHATTERS = frozenset(("admin", "operator", "chat", "platform", "mcp"))
OPERATORS = frozenset(("admin", "operator"))
ADMINS = frozenset(("admin",))

ENDPOINTS: dict[str, frozenset[str]] = {
    "GET /runners": READERS,
    "GET /agents": READERS,
    "GET /agents/none": READERS,
    "POST /agents": ADMINS,
    "PUT /agents/none": ADMINS,
    "DELETE /agents/none": ADMINS,
    "GET /adapters": READERS,
    "GET /adapters/none": READERS,
    "GET /bots": READERS,
    "GET /bots/none": READERS,
    "POST /bots": ADMINS,
    "PUT /bots/none": ADMINS,
    "DELETE /bots/none": ADMINS,
    "GET /bots/none/routes": READERS,
    "PUT /bots/none/routes": ADMINS,
    "POST /bots/none/routes/dry-run": READERS,
    "POST /bots/none/preview": ADMINS,
    "GET /bots/none/preview": ADMINS,
    "GET /default-agents": READERS,
    "PUT /default-agents": ADMINS,
    "DELETE /default-agents/none": ADMINS,
    "GET /tools": READERS,
    "GET /mcp-servers": READERS,
    "GET /mcp-servers/none": READERS,
    "POST /mcp-servers": ADMINS,
    "POST /mcp-servers/test": ADMINS,
    "PUT /mcp-servers/none": ADMINS,
    "DELETE /mcp-servers/none": ADMINS,
    "POST /mcp-servers/none/test": ADMINS,
    "POST /events": CHATTERS,
    "GET /events": ALL_SCOPES,
    "GET /runtimes": READERS,
    "GET /runtimes/queue": READERS,
    "POST /runtimes/none/revoke": OPERATORS,
    "GET /runs": READERS,
    "GET /runs/none": ALL_SCOPES,
    "GET /runs/none/events": ALL_SCOPES,
    "GET /runs/none/model-calls/none": ADMINS,
    "POST /runs/none/cancel": CHATTERS,
    "GET /conversations": ALL_SCOPES,
    "GET /conversations/none": ALL_SCOPES,
    "GET /conversations/none/transcript": ALL_SCOPES,
    "POST /conversations/none/reset": CHATTERS,
    "DELETE /conversations/none": CHATTERS,
    "POST /agents/none/chat/default/reset": CHATTERS,
    "GET /agents/none/chat/default/messages": CHATTERS,
    "GET /model-kinds": READERS,
    "GET /model-providers": READERS,
    "GET /model-providers/none": READERS,
    "POST /model-providers": ADMINS,
    "PUT /model-providers/none": ADMINS,
    "DELETE /model-providers/none": ADMINS,
    "GET /models": READERS,
    "GET /models/none": READERS,
    "POST /models": ADMINS,
    "PUT /models/none": ADMINS,
    "DELETE /models/none": ADMINS,
    "POST /models/none/test": OPERATORS,
    "GET /pipelines": READERS,
    "GET /pipelines/none": READERS,
    "POST /pipelines": ADMINS,
    "PUT /pipelines/none": ADMINS,
    "DELETE /pipelines/none": ADMINS,
    "POST /pipelines/none/copy": ADMINS,
    "POST /pipelines/none/dry-run": READERS,
    "POST /pipelines/none/preview": ADMINS,
    "GET /pipelines/none/preview": ADMINS,
    "POST /message-policies/check": READERS,
    "GET /word-lists": READERS,
    "GET /word-lists/none": READERS,
    "POST /word-lists": ADMINS,
    "PUT /word-lists/none": ADMINS,
    "DELETE /word-lists/none": ADMINS,
    "GET /budgets": READERS,
    "GET /budgets/none": READERS,
    "POST /budgets": ADMINS,
    "PUT /budgets/none": ADMINS,
    "DELETE /budgets/none": ADMINS,
    "GET /knowledge-bases": READERS,
    "GET /knowledge-bases/none": READERS,
    "POST /knowledge-bases": ADMINS,
    "PUT /knowledge-bases/none": ADMINS,
    "DELETE /knowledge-bases/none": ADMINS,
    "POST /knowledge-bases/none/search": READERS,
    "POST /knowledge-bases/none/reembed": OPERATORS,
    "GET /knowledge-bases/none/files": READERS,
    "POST /knowledge-bases/none/files": OPERATORS,
    "GET /knowledge-bases/none/files/none": READERS,
    "DELETE /knowledge-bases/none/files/none": OPERATORS,
    "POST /knowledge-bases/none/files/none/retry": OPERATORS,
    "GET /knowledge-bases/none/files/none/content": READERS,
    "GET /knowledge-bases/none/files/none/chunks": READERS,
    "POST /knowledge-bases/none/files/none/chunks": OPERATORS,
    "GET /knowledge-bases/none/files/none/chunks/none": READERS,
    "PATCH /knowledge-bases/none/files/none/chunks/none": OPERATORS,
    "GET /knowledge-stores": READERS,
    "GET /knowledge-engines": READERS,
    "GET /knowledge-parsers": READERS,
    "GET /audit": ADMINS,
    "GET /feedback": READERS,
}
BODIES = {
    "POST /agents": {"name": "n", "runner_id": "plugin:no/such/runner"},
    "PUT /agents/none": {"name": "n", "runner_id": "plugin:no/such/runner"},
    "POST /bots": {"name": "n", "adapter": "none"},
    "PUT /bots/none": {"name": "n", "adapter": "none"},
    "PUT /bots/none/routes": [],
    "POST /bots/none/routes/dry-run": {"event": {}},
    "POST /bots/none/preview": {"text": "hello"},
    "POST /pipelines/none/preview": {"text": "hello"},
    "PUT /default-agents": {"scope": "workspace", "agent_id": "none"},
    "POST /mcp-servers": {"name": "n", "transport": "stdio", "command": "none"},
    "POST /mcp-servers/test": {"name": "n", "transport": "stdio", "command": "none"},
    "PUT /mcp-servers/none": {"name": "n", "transport": "stdio", "command": "none"},
    "POST /model-providers": {"name": "n", "kind": "none"},
    "PUT /model-providers/none": {"name": "n", "kind": "none"},
    "POST /models": {"provider_id": "none", "name": "n"},
    "PUT /models/none": {"provider_id": "none", "name": "n"},
    "POST /message-policies/check": {"message_policy": {}},
    "PUT /word-lists/none": {"name": "n"},
    "PUT /pipelines/none": {"name": "n", "agent_id": "none"},
    "POST /pipelines/none/dry-run": {},
    "POST /knowledge-bases": {"name": "n", "engine": "none"},
    "PUT /knowledge-bases/none": {"name": "n"},
    "POST /knowledge-bases/none/search": {"query": "q"},
    "POST /knowledge-bases/none/files": {"text": "t", "name": "n"},
    "POST /knowledge-bases/none/files/none/chunks": {"text": "t"},
    "PATCH /knowledge-bases/none/files/none/chunks/none": {"enabled": False},
    "POST /budgets": {"name": "n", "scope": "none"},
    "PUT /budgets/none": {"name": "n", "scope": "workspace", "tokens": 1},
    "POST /events": message("none", "hello"),
}


def status(host: Host, endpoint: str, key: str) -> tuple[int, str]:
    method, path = endpoint.split()
    answer = host.http(key).request(method, path, json=BODIES.get(endpoint))
    return answer.status_code, error_code(answer) if answer.is_error else ""


@pytest.fixture(scope="module")
def revoked(host: Host) -> str:
    key = host.key("admin", "revoked for scopes")
    lines = parlour_here("keys", "list", "--data", host.data).stdout.splitlines()
    key_id = next(line.split()[0] for line in lines if line.endswith("revoked for scopes"))
    assert parlour_here("keys", "revoke", key_id, "--data", host.data).returncode == 0
    return key


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_scope_allows_exactly_what_is_declared(host: Host, endpoint: str, scope: str) -> None:
    code, error = status(host, endpoint, host.key(scope))

    if scope in ENDPOINTS[endpoint]:
        assert code in (200, 404, 422), "a permitted request learns whether the target exists"
    else:
        assert (code, error) == (403, "forbidden")


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_a_request_without_a_valid_key_is_refused(host: Host, endpoint: str, revoked: str) -> None:
    method, path = endpoint.split()
    bare = host.http().build_request(method, path, json=BODIES.get(endpoint))
    del bare.headers["Authorization"]

    assert host.http().send(bare).status_code == 401
    assert status(host, endpoint, "parlour_wrong") == (401, "unauthenticated")
    assert status(host, endpoint, revoked) == (401, "unauthenticated")


@pytest.mark.parametrize("header", ["", "Bearer", "Basic abc", "bearer\tabc", "Bearer ü"])
def test_an_odd_authorization_header_is_a_missing_key(host: Host, header: str) -> None:
    answer = host.http().get("/agents", headers={b"Authorization": header.encode()})

    assert (answer.status_code, error_code(answer)) == (401, "unauthenticated")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_health_needs_no_key(host: Host, path: str) -> None:
    request = host.http().build_request("GET", host.address + path)
    del request.headers["Authorization"]

    assert host.http().send(request).status_code == 200


def test_an_unknown_path_and_a_wrong_method_use_the_common_error_form(host: Host) -> None:
    absent = host.http().get("/nothing-here")
    wrong = host.http().patch("/agents")

    assert (absent.status_code, error_code(absent)) == (404, "not_found")
    assert (wrong.status_code, error_code(wrong)) == (405, "method_not_allowed")

"""Tests every operation with every way of having no permission for it. The list comes from the Host's own document."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import httpx
import pytest

from tests.support.harness import ECHO_PLUGIN, NO_TLS, Host, bearer, error_code

PASSWORD = "correct horse battery"
RANKS = {
    "owner": {"owner", "admin", "operator", "viewer", "chat", "model_calls"},
    "admin": {"admin", "operator", "viewer", "chat", "model_calls"},
    "operator": {"operator", "viewer", "chat"},
    "viewer": {"viewer"},
    "chat": {"chat"},
    "platform": {"chat", "platform"},
}
OPEN = {
    "GET /healthz",
    "GET /readyz",
    "GET /api/v1/auth/setup",
    "POST /api/v1/auth/setup",
    "POST /api/v1/auth/login",
    "POST /api/v1/webhooks/{webhook_id}/events",
}
"""Operations without authentication: the first owner, logging in, and those that a signature protects."""
CLIENT = httpx.Client(timeout=30, verify=NO_TLS)
"""Keeps its connections. It keeps no cookies, because the tests send them by hand."""
SESSION_ENDING = "POST /api/v1/auth/logout"

People = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Operation:
    name: str
    needs: frozenset[str]

    def ask(self, host: Host, headers: Mapping[str, str]) -> httpx.Response:
        method, path = self.name.split(" ")
        for part in path.split("/"):
            if part.startswith("{"):
                path = path.replace(part, "none")
        return CLIENT.request(method, f"{host.address}{path}", headers=headers)


@pytest.fixture(scope="module")
def authorization_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("doors"))
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        yield host
    finally:
        host.close()


@pytest.fixture(scope="module")
def operations(authorization_host: Host) -> list[Operation]:
    document = httpx.get(f"{authorization_host.address}/api/v1/openapi.json", verify=NO_TLS).json()
    return [
        Operation(f"{method.upper()} {path}", frozenset(operation["x-needs"]))
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


@pytest.fixture(scope="module")
def people(authorization_host: Host) -> People:
    """Returns the headers of a browser by role."""
    found = {}
    with httpx.Client(base_url=f"{authorization_host.address}/api/v1", timeout=30, verify=NO_TLS) as owner:
        made = owner.post("/auth/setup", json={"email": "owner@example.org", "password": PASSWORD})
        assert made.status_code == 201, made.text
        found["owner"] = _headers(owner, made.json())
        for role in ("admin", "operator", "viewer"):
            body = {"email": f"{role}@example.org", "password": PASSWORD, "role": role}
            made = owner.post("/users", json=body, headers=found["owner"])
            assert made.status_code == 201, made.text
    for role in ("admin", "operator", "viewer"):
        with httpx.Client(base_url=f"{authorization_host.address}/api/v1", timeout=30, verify=NO_TLS) as person:
            me = person.post("/auth/login", json={"email": f"{role}@example.org", "password": PASSWORD}).json()
            found[role] = _headers(person, me)
    return found


@pytest.fixture(scope="module")
def revoked(authorization_host: Host) -> str:
    made = authorization_host.http().post("/api-keys", json={"name": "gone", "scope": "admin"}).json()
    assert authorization_host.http().delete(f"/api-keys/{made['key_id']}").status_code == 204
    return str(made["key"])


def test_only_the_listed_operations_are_open(operations: list[Operation]) -> None:
    assert len(operations) > 100
    assert {operation.name for operation in operations if not operation.needs} == OPEN


def test_without_a_valid_key_every_guarded_operation_is_refused(
    authorization_host: Host, operations: list[Operation], revoked: str
) -> None:
    guarded = [operation for operation in operations if operation.needs]
    keys: list[dict[str, str]] = [{}, bearer("parlour_wrong"), bearer(revoked), {"Authorization": "Basic YTpi"}]

    answers = [(operation.name, operation.ask(authorization_host, key)) for operation in guarded for key in keys]

    assert [(name, answer.status_code) for name, answer in answers if answer.status_code != 401] == []


@pytest.mark.parametrize("scope", ["admin", "operator", "viewer", "chat", "platform"])
def test_a_key_may_use_exactly_the_operations_of_its_scope(
    authorization_host: Host, operations: list[Operation], scope: str
) -> None:
    answers = {
        operation: operation.ask(authorization_host, bearer(authorization_host.key(scope))) for operation in operations
    }

    assert _violations(answers, scope) == {}


@pytest.mark.parametrize("role", ["owner", "admin", "operator", "viewer"])
def test_a_person_may_use_exactly_the_operations_of_their_role(
    authorization_host: Host, operations: list[Operation], people: People, role: str
) -> None:
    asked = [operation for operation in operations if operation.name != SESSION_ENDING]

    answers = {operation: operation.ask(authorization_host, people[role]) for operation in asked}

    assert _violations(answers, role) == {}


def test_a_session_without_its_token_changes_nothing(
    authorization_host: Host, operations: list[Operation], people: People
) -> None:
    changes = [operation for operation in operations if operation.needs and not operation.name.startswith("GET")]

    cookie = {"Cookie": people["owner"]["Cookie"]}
    answers = {operation.name: operation.ask(authorization_host, cookie) for operation in changes}

    assert {name: answer.status_code for name, answer in answers.items() if answer.status_code != 403} == {}
    assert {error_code(answer) for answer in answers.values()} == {"forbidden"}


def test_a_page_of_another_site_gets_nothing_with_a_persons_session(
    authorization_host: Host, operations: list[Operation], people: People
) -> None:
    guarded = [operation for operation in operations if operation.needs]
    headers = {**people["owner"], "Origin": "https://evil.example"}

    answers = {operation.name: operation.ask(authorization_host, headers) for operation in guarded}

    assert {name: answer.status_code for name, answer in answers.items() if answer.status_code != 403} == {}


def _headers(browser: httpx.Client, me: dict[str, str]) -> dict[str, str]:
    [(name, value)] = browser.cookies.items()
    return {"Cookie": f"{name}={value}", "X-CSRF-Token": me["csrf_token"]}


def _violations(answers: dict[Operation, httpx.Response], rank: str) -> dict[str, str]:
    """Returns the operations that were refused although permitted, permitted although not allowed, or failed."""
    found = {}
    for operation, answer in answers.items():
        may = not operation.needs or bool(operation.needs & RANKS[rank])
        refused = answer.status_code == 403 and "may not do this" in answer.text
        if may == refused or answer.status_code >= 500 or (answer.status_code == 401 and operation.needs):
            found[operation.name] = f"{answer.status_code} {answer.text[:200]}"
    return found

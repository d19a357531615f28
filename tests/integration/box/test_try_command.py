"""Tests that an owner tries a command out and gets what an agent would: same limits, same text, audited before."""

from collections.abc import Iterator

import pytest

from tests.integration.access.test_accounts import PASSWORD, Person, browser, logged_in
from tests.support.harness import Host, error_code, named_fields


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("try"))
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def owner(host: Host) -> Person:
    http = browser(host)
    answer = http.post("/auth/setup", json={"email": "ada@example.org", "password": PASSWORD, "name": "Ada"})
    return Person(http, answer.json())


def test_owner_gets_what_the_agent_would_get(host: Host, owner: Person) -> None:
    policy = {"tools": ["exec"], "profile": "offline_readonly", "ask": ["rm *"]}
    body = {"command": "touch /workspace/x; echo code $?; rm -f y", "box_policy": policy}
    answer = owner.http.post("/box/try", json=body, headers=owner.token)
    assert answer.status_code == 200, answer.text
    tried = answer.json()
    assert "Read-only file system" in tried["text"]
    assert "code 1" in tried["text"]
    assert (tried["status"], tried["asks"], tried["is_offered"]) == ("completed", True, True)
    nothing = owner.http.post("/box/try", json={"command": "true"}, headers=owner.token).json()
    assert (nothing["text"], nothing["is_offered"]) == ("The command ended without output.", False)
    entries = host.items("/audit", action="box.try")
    assert [entry["detail"]["after"]["command"] for entry in entries] == ["true", body["command"]]


def test_others_and_policies_that_contradict_themselves_are_refused(host: Host, owner: Person) -> None:
    account = {"email": "eve@example.org", "password": PASSWORD, "name": "Eve", "role": "admin"}
    assert owner.http.post("/users", json=account, headers=owner.token).status_code == 201
    admin = logged_in(host, "eve@example.org")
    for refused in (admin.http.post("/box/try", json={"command": "id"}, headers=admin.token),):
        assert (refused.status_code, error_code(refused)) == (403, "forbidden")
    wrong = {"command": "id", "box_policy": {"tools": ["exec"], "network": True}}
    assert named_fields(owner.http.post("/box/try", json=wrong, headers=owner.token)) == ["box_policy.network"]

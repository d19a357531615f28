"""Tests accounts: the first owner, logging in, the permissions of each role, and requests of foreign pages."""

import asyncio
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.integration.conftest import MakeHost
from tests.support.commands import PARLOUR
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, Host, bearer, error_code

PASSWORD = "correct horse battery"
ROLES = ("admin", "operator", "viewer")


@dataclass
class Person:
    """Represents a browser with a logged-in person."""

    http: httpx.Client
    me: dict[str, Any]

    @property
    def token(self) -> dict[str, str]:
        return {"X-CSRF-Token": self.me["csrf_token"]}


def browser(host: Host) -> httpx.Client:
    return httpx.Client(base_url=f"{host.address}/api/v1", timeout=30, verify=NO_TLS)


def users_create(host: Host, email: str) -> "subprocess.CompletedProcess[str]":
    """Runs `parlour users create` with the password on its standard input."""
    command = [str(PARLOUR), "users", "create", "--email", email, "--role", "owner", "--data", str(host.data)]
    return subprocess.run(command, input=f"{PASSWORD}\n", capture_output=True, text=True, timeout=30)


def logged_in(host: Host, email: str, password: str = PASSWORD) -> Person:
    http = browser(host)
    answer = http.post("/auth/login", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    return Person(http, answer.json())


@pytest.fixture(scope="module")
def owned(shared_host: Host) -> Host:
    return shared_host


@pytest.fixture(scope="module")
def shared_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("accounts"))
    host.install(ECHO_PLUGIN)
    host.start()
    try:
        yield host
    finally:
        host.close()


@pytest.fixture(scope="module")
def owner(owned: Host) -> Person:
    """Creates the first owner in a browser."""
    http = browser(owned)
    assert http.get("/auth/setup").json() == {"needed": True, "token_required": False}
    answer = http.post("/auth/setup", json={"email": "Ada@Example.org", "password": PASSWORD, "name": "Ada"})
    assert answer.status_code == 201, answer.text
    return Person(http, answer.json())


@pytest.fixture(scope="module")
def people(owned: Host, owner: Person) -> dict[str, Person]:
    """Creates one person of each role."""
    for role in ROLES:
        body = {"email": f"{role}@example.org", "password": PASSWORD, "role": role}
        assert owner.http.post("/users", json=body, headers=owner.token).status_code == 201
    return {"owner": owner, **{role: logged_in(owned, f"{role}@example.org") for role in ROLES}}


def test_the_own_account_says_whether_it_may_read_model_calls(people: dict[str, Person]) -> None:
    readers = {role: person.http.get("/auth/me").json()["reads_model_calls"] for role, person in people.items()}

    assert readers == {"owner": True, "admin": True, "operator": False, "viewer": False}


def test_the_first_owner_is_logged_in_at_once_and_a_second_setup_is_refused(owned: Host, owner: Person) -> None:
    assert owner.http.get("/auth/me").json() == owner.me
    assert (owner.me["email"], owner.me["name"], owner.me["role"]) == ("ada@example.org", "Ada", "owner")
    assert browser(owned).get("/auth/setup").json()["needed"] is False

    second = browser(owned).post("/auth/setup", json={"email": "eve@example.org", "password": PASSWORD})

    assert (second.status_code, error_code(second)) == (409, "conflict")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(owned: Host, people: dict[str, Person]) -> None:
    answer = browser(owned).post("/auth/login", json={"email": "viewer@example.org", "password": PASSWORD})

    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie


@pytest.mark.parametrize("email", ["ada@example.org", "nobody@example.org"])
def test_a_wrong_password_and_an_unknown_account_get_the_same_answer(owned: Host, owner: Person, email: str) -> None:
    answer = browser(owned).post("/auth/login", json={"email": email, "password": "not the one"})

    assert answer.status_code == 401
    assert answer.json()["error"]["message"] == "this address and password belong to no account"


def test_repeated_wrong_passwords_are_rate_limited(make_host: MakeHost) -> None:
    host = make_host().start()
    assert users_create(host, "ada@example.org").returncode == 0
    guess = {"email": "ada@example.org", "password": "not the one"}

    answers = [browser(host).post("/auth/login", json=guess).status_code for _ in range(5)]
    right = browser(host).post("/auth/login", json={**guess, "password": PASSWORD})

    assert answers == [401] * 5
    assert (right.status_code, error_code(right)) == (429, "rate_limited")


def test_concurrent_guesses_are_counted_before_their_passwords_are_checked(make_host: MakeHost) -> None:
    host = make_host().start()
    assert users_create(host, "ada@example.org").returncode == 0

    async def guess() -> list[int]:
        async with httpx.AsyncClient(base_url=f"{host.address}/api/v1", timeout=30, verify=NO_TLS) as http:
            bodies = [{"email": "ada@example.org", "password": f"guess number {each}"} for each in range(40)]
            answers = await asyncio.gather(*(http.post("/auth/login", json=body) for body in bodies))
            return [answer.status_code for answer in answers]

    answers = asyncio.run(guess())

    assert sorted(answers) == [401] * 5 + [429] * 35
    assert throttled(host, "tries") == 35


def test_too_many_concurrent_logins_are_refused_and_the_host_stays_responsive(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__TRUSTED_PROXIES="127.0.0.1").start()
    assert users_create(host, "ada@example.org").returncode == 0

    async def crowd() -> list[int]:
        """Logs in from a different address each time."""
        async with httpx.AsyncClient(base_url=f"{host.address}/api/v1", timeout=60, verify=NO_TLS) as http:
            tries = [
                http.post(
                    "/auth/login",
                    json={"email": f"{each}@example.org", "password": "not the one"},
                    headers={"X-Forwarded-For": f"203.0.113.{each}"},
                )
                for each in range(60)
            ]
            return [answer.status_code for answer in await asyncio.gather(*tries)]

    answers = asyncio.run(crowd())
    logged_in(host, "ada@example.org")

    assert set(answers) == {401, 429}
    assert answers.count(401) >= 10
    assert throttled(host, "busy") == answers.count(429)


def throttled(host: Host, reason: str) -> int:
    text = httpx.get(f"{host.address}/metrics", headers=bearer(host.key()), verify=NO_TLS).text
    [line] = [
        line for line in text.splitlines() if line.startswith(f'parlour_throttled_logins_total{{reason="{reason}"')
    ]
    return int(line.rpartition(" ")[2])


def test_a_session_that_is_ended_fails_on_its_next_request(owned: Host, people: dict[str, Person]) -> None:
    person = logged_in(owned, "viewer@example.org")
    saved = dict(person.http.cookies)

    assert person.http.post("/auth/logout", headers=person.token).status_code == 204

    again = httpx.get(f"{owned.address}/api/v1/auth/me", cookies=saved, verify=NO_TLS)
    assert (again.status_code, error_code(again)) == (401, "unauthenticated")


def test_the_first_of_several_session_cookies_counts(owned: Host, owner: Person) -> None:
    """Browsers send the cookie with the longest path first: another Host below another prefix may
    have set the others.
    """
    [(name, value)] = owner.http.cookies.items()
    headers = {"Cookie": f"{name}={value}; {name}=stale"}

    assert httpx.get(f"{owned.address}/api/v1/auth/me", headers=headers, verify=NO_TLS).status_code == 200


def test_a_changed_password_ends_every_other_session(owned: Host, owner: Person) -> None:
    body = {"email": "grace@example.org", "password": PASSWORD, "role": "operator"}
    assert owner.http.post("/users", json=body, headers=owner.token).status_code == 201
    first, second = logged_in(owned, "grace@example.org"), logged_in(owned, "grace@example.org")
    change = {"password": "another long one", "current_password": PASSWORD}

    assert first.http.put("/auth/me", json=change, headers=first.token).status_code == 200

    assert first.http.get("/auth/me").status_code == 200
    assert second.http.get("/auth/me").status_code == 401
    assert logged_in(owned, "grace@example.org", "another long one").me["role"] == "operator"


def test_a_change_without_the_token_is_refused(owned: Host, owner: Person) -> None:
    answer = owner.http.post("/users", json={"email": "eve@example.org", "password": PASSWORD})

    assert answer.status_code == 403
    assert "X-CSRF-Token" in answer.json()["error"]["message"]


@pytest.mark.parametrize("header", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
@pytest.mark.parametrize(("method", "path"), [("GET", "/agents"), ("POST", "/auth/logout"), ("POST", "/auth/login")])
def test_a_page_of_another_site_gets_nothing(owner: Person, header: dict[str, str], method: str, path: str) -> None:
    body = {"email": "ada@example.org", "password": PASSWORD} if path == "/auth/login" else None
    answer = owner.http.request(method, path, headers={**owner.token, **header}, json=body)

    assert (answer.status_code, error_code(answer)) == (403, "forbidden")


def test_each_role_sees_and_changes_only_its_part(people: dict[str, Person]) -> None:
    agent = {"name": "n", "runner_id": ECHO}
    allowed = {
        role: (
            person.http.get("/agents").status_code,
            person.http.post("/agents", json=agent, headers=person.token).status_code,
            person.http.get("/users").status_code,
        )
        for role, person in people.items()
    }

    assert allowed == {
        "owner": (200, 201, 200),
        "admin": (200, 201, 200),
        "operator": (200, 403, 403),
        "viewer": (200, 403, 403),
    }


def test_admins_can_not_create_admins(people: dict[str, Person]) -> None:
    admin = people["admin"]
    body = {"email": "new@example.org", "password": PASSWORD, "role": "admin"}

    answer = admin.http.post("/users", json=body, headers=admin.token)

    assert answer.json()["error"]["message"] == "only an owner manages admins and owners"


def test_the_last_owner_can_not_be_removed(owner: Person) -> None:
    answer = owner.http.put(f"/users/{owner.me['user_id']}", json={"role": "viewer"}, headers=owner.token)

    assert answer.status_code == 422
    assert "make somebody else owner first" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"email": "no address", "password": PASSWORD}, "email"),
        ({"email": "ada@example.org", "password": PASSWORD}, "email"),
        ({"email": "short@example.org", "password": "short"}, "password"),
        ({"email": "same@example.org", "password": "aaaaaaaaaaaa"}, "password"),
    ],
)
def test_an_invalid_account_is_refused_by_field(owner: Person, body: dict[str, str], field: str) -> None:
    answer = owner.http.post("/users", json=body, headers=owner.token)

    assert answer.status_code == 422
    assert answer.json()["error"]["details"]["fields"][0]["field"] == field


def test_a_key_is_shown_once_and_revoked_at_once(owned: Host, owner: Person) -> None:
    made = owner.http.post("/api-keys", json={"name": "phone", "scope": "viewer"}, headers=owner.token).json()
    bearer = {"Authorization": f"Bearer {made['key']}"}
    assert httpx.get(f"{owned.address}/api/v1/agents", headers=bearer, verify=NO_TLS).status_code == 200

    [listed] = [key for key in owner.http.get("/api-keys").json()["items"] if key["name"] == "phone"]
    revoked = owner.http.delete(f"/api-keys/{made['key_id']}", headers=owner.token)

    assert listed["last_used_at"] is not None
    assert "key" not in listed
    assert revoked.status_code == 204
    assert httpx.get(f"{owned.address}/api/v1/agents", headers=bearer, verify=NO_TLS).status_code == 401


def test_changes_of_accounts_are_audited_without_passwords(owner: Person, people: dict[str, Person]) -> None:
    entries = owner.http.get("/audit", params={"limit": 100}).json()["items"]

    assert {"user.create", "user.login"} <= {entry["action"] for entry in entries}
    assert PASSWORD not in str(entries)
    assert "argon2" not in str(entries)


def test_the_command_line_names_the_invalid_part_of_an_account(owned: Host, owner: Person) -> None:
    made = users_create(owned, "ada@example.org")

    assert (made.returncode, made.stderr) == (1, "parlour: email: 'ada@example.org' has an account already\n")


def test_beyond_this_machine_the_first_owner_needs_the_token_that_was_printed(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__HTTP__HOST="0.0.0.0").start()
    [line] = [line for line in host.printed() if line.startswith("set-up token for the first owner: ")]
    token = line.rpartition(" ")[2]
    body = {"email": "owner@example.org", "password": PASSWORD}
    with httpx.Client(base_url=f"{host.address}/api/v1", timeout=30, verify=NO_TLS) as http:
        assert http.get("/auth/setup").json() == {"needed": True, "token_required": True}
        refused = [http.post("/auth/setup", json={**body, **given}) for given in ({}, {"token": "guessed"})]
        made = http.post("/auth/setup", json={**body, "token": token})
        again = http.post("/auth/setup", json={**body, "email": "second@example.org", "token": token})
    host.restart()

    assert [(answer.status_code, error_code(answer)) for answer in refused] == [(403, "forbidden")] * 2
    assert "token" in refused[0].json()["error"]["message"]
    assert (made.status_code, made.json()["role"]) == (201, "owner")
    assert (again.status_code, error_code(again)) == (409, "conflict")
    assert not [line for line in host.printed() if "token" in line], "no token is needed any more"
    assert token not in host.log()


@pytest.mark.long  # packages/host/tests/stores/test_users.py shows the same faster
@pytest.mark.parametrize("change", ["demote", "delete"])
def test_two_owners_who_remove_each_other_at_once_leave_one_owner(make_host: MakeHost, change: str) -> None:
    host = make_host().start()
    for email in ("ada@example.org", "bob@example.org"):
        assert users_create(host, email).returncode == 0

    def act(number: int, people: list[Person], ready: Barrier) -> int:
        """Lets one owner change the other and returns the status of the answer."""
        actor, other = people[number], people[1 - number]
        path, headers = f"/users/{other.me['user_id']}", actor.token
        ready.wait(30)
        if change == "delete":
            return actor.http.delete(path, headers=headers).status_code
        return actor.http.put(path, json={"role": "viewer"}, headers=headers).status_code

    for _ in range(4):
        people = [logged_in(host, f"{name}@example.org") for name in ("ada", "bob")]
        ready = Barrier(2)
        with ThreadPoolExecutor(2) as pool:
            statuses = list(pool.map(lambda number: act(number, people, ready), (0, 1)))  # noqa: B023
        owners = [user for user in host.items("/users") if user["role"] == "owner" and user["enabled"]]
        assert len(owners) == 1, statuses
        assert restore_owner(host, owners[0]["email"], change)


def restore_owner(host: Host, email: str, change: str) -> bool:
    """Makes the other person an owner again, by the remaining one."""
    left = logged_in(host, email)
    lost = "bob@example.org" if email.startswith("ada") else "ada@example.org"
    if change == "delete":
        return users_create(host, lost).returncode == 0
    user_id = next(user["user_id"] for user in host.items("/users") if user["email"] == lost)
    return left.http.put(f"/users/{user_id}", json={"role": "owner"}, headers=left.token).status_code == 200

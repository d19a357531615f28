"""Tests limits and cursors of lists, and cursors that do not belong to the list."""

import base64
from collections.abc import Callable

import pytest

from tests.support.harness import Host, Json, error_code


@pytest.fixture(scope="module")
def lists(host: Host) -> dict[str, str]:
    """Returns paths of lists that have several items each."""
    agent = host.agent()
    host.agent(name="another")
    for number in range(3):
        result = host.ask(agent, f"message {number}", conversation_id="paged")
    other = host.ask(agent, "elsewhere", conversation_id="paged elsewhere")
    return {
        "agents": "/agents",
        "events": "/events",
        "runs": f"/runs?agent_id={agent}",
        "run events": f"/runs/{result['run']['run_id']}/events",
        "conversations": "/conversations",
        "transcript": f"/conversations/{result['conversation_id']}/transcript",
        "other transcript": f"/conversations/{other['conversation_id']}/transcript",
    }


LISTS = ["agents", "events", "runs", "run events", "conversations", "transcript"]


def page(host: Host, path: str, **parameters: object) -> Json:
    answer = host.http().get(path, params={**_query(path), **parameters})
    assert answer.status_code == 200, answer.text
    assert set(answer.json()) == {"items", "next_cursor"}
    return dict(answer.json())


def _query(path: str) -> dict[str, str]:
    return dict(part.split("=") for part in path.partition("?")[2].split("&") if part)


@pytest.mark.parametrize("name", LISTS)
def test_pages_of_one_add_up_to_the_whole_list(host: Host, lists: dict[str, str], name: str) -> None:
    path = lists[name]
    whole = page(host, path, limit=100)
    wanted = whole["items"][:5]
    assert len(wanted) > 1

    found: list[Json] = []
    cursor: dict[str, str] = {}
    while len(found) < len(wanted):
        one = page(host, path, limit=1, **cursor)
        assert len(one["items"]) == 1
        found += one["items"]
        cursor = {"cursor": one["next_cursor"]}

    assert found == wanted


@pytest.mark.parametrize("name", LISTS)
def test_the_last_page_has_no_cursor(host: Host, lists: dict[str, str], name: str) -> None:
    if name in ("agents", "events", "conversations"):
        items = host.items(lists[name])
        assert len({str(item) for item in items}) == len(items)
    else:
        assert page(host, lists[name], limit=100)["next_cursor"] is None


def _flip_last_byte(cursor: str) -> str:
    raw = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    raw[-1] ^= 1
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


BROKEN: dict[str, Callable[[str], str]] = {
    "empty": lambda cursor: "",
    "not base64": lambda cursor: "%%%",
    "not ASCII": lambda cursor: "über",
    "one letter": lambda cursor: "A",
    "short": lambda cursor: "AAAA",
    "tampered": _flip_last_byte,
    "cut": lambda cursor: cursor[:-2],
    "plain": lambda cursor: base64.urlsafe_b64encode(b'"0"').decode(),
}


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("name", ["agents", "events", "transcript"])
def test_a_broken_cursor_is_refused(host: Host, lists: dict[str, str], name: str, fault: str) -> None:
    cursor = page(host, lists[name], limit=1)["next_cursor"]

    answer = host.http().get(lists[name], params={"limit": 1, "cursor": BROKEN[fault](cursor)})

    assert (answer.status_code, error_code(answer)) == (400, "invalid_argument")


@pytest.mark.parametrize(
    ("made_by", "used_for"),
    [
        ("agents", "runs"),
        ("runs", "agents"),
        ("events", "conversations"),
        ("transcript", "other transcript"),
        ("transcript", "run events"),
    ],
)
def test_a_cursor_of_another_list_is_refused(host: Host, lists: dict[str, str], made_by: str, used_for: str) -> None:
    cursor = page(host, lists[made_by], limit=1)["next_cursor"]

    answer = host.http().get(lists[used_for], params={**_query(lists[used_for]), "cursor": cursor})

    assert (answer.status_code, error_code(answer)) == (400, "invalid_argument")


def test_a_cursor_is_bound_to_its_filters(host: Host, lists: dict[str, str]) -> None:
    cursor = page(host, lists["runs"], limit=1)["next_cursor"]

    answer = host.http().get("/runs", params={"status": "completed", "cursor": cursor})

    assert (answer.status_code, error_code(answer)) == (400, "invalid_argument")


@pytest.mark.parametrize("limit", ["0", "-1", "101", "many", "1.5"])
def test_a_limit_out_of_bounds_is_named(host: Host, limit: str) -> None:
    answer = host.http().get("/agents", params={"limit": limit})

    assert (answer.status_code, error_code(answer)) == (422, "invalid_argument")
    assert "limit" in answer.json()["error"]["details"]["fields"][0]["field"]

"""Tests pages of plugins over HTTP: who may open and call them, what the browser is told, and what the audit keeps."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.harness import ROOT, Host

PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "paged-agent"
PAGES = "/plugins/test/paged-agent/pages"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("paged"))
    host.install(PLUGIN)
    yield host.start()
    host.close()


def test_pages_are_listed_with_the_role_that_they_need(host: Host) -> None:
    pages = host.http().get(PAGES).json()["items"]
    assert [(each["name"], each["role"]) for each in pages] == [
        ("board", "viewer"),
        ("note", "operator"),
        ("vault", "admin"),
    ]
    assert pages[0]["label"] == {"en_US": "Notice board", "zh_Hans": "公告板"}
    assert host.http().get("/plugins/test/none/pages").status_code == 404


def test_document_has_no_origin_and_may_load_nothing(host: Host) -> None:
    answer = host.http().get(f"{PAGES}/board/document")
    assert answer.headers["content-type"].startswith("text/html")
    policy = dict(each.partition(" ")[::2] for each in answer.headers["content-security-policy"].split("; "))
    assert policy["sandbox"].split() == ["allow-scripts", "allow-forms"]
    assert policy["default-src"] == policy["connect-src"] == policy["form-action"] == policy["base-uri"] == "'none'"
    assert policy["frame-ancestors"] == "'self'"
    assert answer.text.startswith("<!doctype html><script>")
    assert "<h1>Notice board</h1>" in answer.text


def test_call_carries_the_role_and_is_audited_without_its_data(host: Host) -> None:
    http = host.http()
    who = http.post(f"{PAGES}/board/calls", json={"action": "who"}).json()["data"]
    assert (who["role"], who["id"].split(":")[0]) == ("admin", "key")
    pinned = http.post(f"{PAGES}/board/calls", json={"action": "pin", "data": {"note": "a private note"}})
    assert pinned.json() == {"data": {"pinned": "a private note", "by": "admin"}}
    entries = [each for each in http.get("/audit").json()["items"] if each["action"] == "plugin.page_call"]
    assert [each["detail"]["after"] for each in entries] == [
        {"action": "pin", "role": "admin"},
        {"action": "who", "role": "admin"},
    ]
    assert entries[0]["resource"] == "test/paged-agent/board"
    assert "a private note" not in str(entries)


def test_roles_below_that_of_a_page_neither_open_nor_call_it(host: Host) -> None:
    viewer = host.http(host.key("viewer"))
    assert viewer.get(f"{PAGES}/board/document").status_code == 200
    refused = viewer.post(f"{PAGES}/board/calls", json={"action": "pin", "data": {"note": "x"}})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "plugin_refused")
    assert refused.json()["error"]["message"] == "Only admins may pin a note."
    for page in ("note", "vault"):
        assert viewer.get(f"{PAGES}/{page}/document").status_code == 403
        assert viewer.post(f"{PAGES}/{page}/calls", json={"action": "who"}).status_code == 403
    assert host.http(host.key("chat")).get(f"{PAGES}/board/document").status_code == 403


@pytest.mark.parametrize(
    ("page", "body", "status", "code"),
    [
        ("board", {"action": "crash"}, 502, "plugin_failed"),
        ("board", {"action": "flood"}, 502, "runner.protocol_error"),
        ("board", {"action": "pin", "data": "x" * 300_000}, 413, "payload_too_large"),
        ("board", {"action": ""}, 422, "invalid_argument"),
        ("note", {"action": "who"}, 502, "plugin_failed"),
        ("none", {"action": "who"}, 404, "not_found"),
    ],
)
def test_bad_calls_are_refused_with_a_code(
    host: Host, page: str, body: dict[str, object], status: int, code: str
) -> None:
    answer = host.http().post(f"{PAGES}/{page}/calls", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert "a secret of the plugin" not in answer.text


@pytest.mark.long
def test_call_that_hangs_ends_after_its_time_and_holds_up_no_other(host: Host) -> None:
    http = host.http()
    with ThreadPoolExecutor() as threads:
        hanging = threads.submit(http.post, f"{PAGES}/board/calls", json={"action": "hang"}, timeout=60)
        assert http.post(f"{PAGES}/board/calls", json={"action": "who"}).status_code == 200
        assert hanging.result().status_code == 504

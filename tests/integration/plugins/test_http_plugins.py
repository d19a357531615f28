"""Tests plugins over HTTP: installation, display, changes, restarts, removal and refusals."""

import io
import json
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.integration.conftest import HostType, MakeHost
from tests.support.harness import ECHO_PLUGIN, NO_TLS, Host, Json, bearer, error_code, eventually, named_fields, texts
from tests.support.plugins import write_plugin, write_remembering_plugin, write_zip

pytestmark = pytest.mark.both_runtimes

QUICK = {"PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": "0.05", "PARLOUR__PLUGINS__GIVE_UP_AFTER": "2"}
PERMISSIONS = "{network: [api.example.org], storage: [plugin]}"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, host_type: HostType) -> Iterator[Host]:
    host = host_type(tmp_path_factory.mktemp("http host"), PARLOUR__HTTP__UPLOAD_BYTES=2_000_000, **QUICK)
    host.install(ECHO_PLUGIN)
    host.start()
    yield host
    host.close()


def upload(host: Host, file: Path, key: str | None = None, **texts_beside: str) -> httpx.Response:
    files = {"file": (file.name, file.read_bytes(), "application/zip")}
    return host.http(key).post("/plugins/install", files=files, data=texts_beside)


def install(host: Host, source: object, **fields: object) -> httpx.Response:
    return host.http().post("/plugins/install", json={"source": str(source), **fields})


def plugin_response(host: Host, plugin_id: str) -> Json:
    return next((each for each in host.items("/plugins") if each["id"] == plugin_id), {})


def test_the_plugin_list_shows_all_fields(own: Host) -> None:
    facts = plugin_response(own, "parlour/echo-agent")

    assert (facts["version"], facts["status"], facts["enabled"]) == ("0.1.0", "ready", True)
    assert facts["label"]["en_US"] == "Echo"
    assert facts["description"]["zh_Hans"]
    assert facts["components"] == [{"kind": "AgentRunner", "name": "default"}]
    assert facts["source"] == str(ECHO_PLUGIN)
    assert len(facts["sha256"]) == 64
    assert abs(facts["installed_at"] - time.time() * 1000) < 600_000
    assert facts["permissions"]["asked"] == {}
    assert "sandbox" in facts
    assert own.http().get("/plugins/parlour/echo-agent").json() == facts


def test_an_uploaded_zip_is_installed_and_upgraded(own: Host, tmp_path: Path) -> None:
    first = upload(own, write_zip(write_plugin(tmp_path / "one", "uploaded", answer="one")))

    assert first.status_code == 201, first.text
    assert (first.json()["version"], first.json()["status"], first.json()["source"]) == ("0.1.0", "ready", "one.zip")
    agent = own.agent("plugin:test/uploaded/default")
    assert texts(own.ask(agent, "which?")) == ["one"]

    second = upload(own, write_zip(write_plugin(tmp_path / "two", "uploaded", version="0.2.0", answer="two")))
    assert (second.status_code, second.json()["version"]) == (201, "0.2.0")
    assert texts(own.ask(agent, "which?")) == ["two"]
    assert not list((own.data / "uploads").iterdir())


def test_a_folder_is_installed_by_its_path(own: Host, tmp_path: Path) -> None:
    made = install(own, write_plugin(tmp_path / "plugin", "by-path"))

    assert (made.status_code, made.json()["status"]) == (201, "ready")


@pytest.mark.both_runtimes
def test_permissions_have_to_be_granted_explicitly(own: Host, tmp_path: Path) -> None:
    file = write_zip(write_plugin(tmp_path / "plugin", "asking", permissions=PERMISSIONS))

    refused = upload(own, file)

    assert (refused.status_code, error_code(refused)) == (409, "grants_required")
    assert refused.json()["error"]["details"]["asked"] == {"network": ["api.example.org"], "storage": ["plugin"]}
    assert plugin_response(own, "test/asking") == {}

    made = upload(own, file, granted=json.dumps(["storage"]))
    permissions = made.json()["permissions"]
    assert permissions["granted"] == {"storage": ["plugin"]}
    assert permissions["ungranted"] == {"network": ["api.example.org"]}
    assert "keep data of its own in Parlour" in [each["text"] for each in permissions["words"]["granted"]]
    [asks] = permissions["words"]["ungranted"]
    assert "api.example.org" in asks["text"]
    assert set(asks) == {"key", "values", "text"}

    changed = own.http().put("/plugins/test/asking", json={"granted": ["network:api.example.org"]})
    assert changed.status_code == 200
    assert changed.json()["permissions"]["granted"] == {"network": ["api.example.org"]}
    assert changed.json()["status"] == "ready"


@pytest.mark.both_runtimes
def test_new_permissions_of_an_upgrade_are_not_granted_silently(own: Host, tmp_path: Path) -> None:
    older = write_plugin(tmp_path / "one", "growing", permissions="{storage: [plugin]}")
    assert install(own, older, granted=["storage"]).status_code == 201

    newer = write_plugin(tmp_path / "two", "growing", version="0.2.0", permissions=PERMISSIONS)
    upgraded = install(own, newer)

    assert upgraded.status_code == 201
    assert upgraded.json()["permissions"]["granted"] == {"storage": ["plugin"]}
    assert upgraded.json()["permissions"]["ungranted"] == {"network": ["api.example.org"]}


def test_a_version_that_does_not_start_is_refused_and_the_old_one_keeps_running(own: Host, tmp_path: Path) -> None:
    assert install(own, write_plugin(tmp_path / "one", "falling", answer="one")).status_code == 201
    agent = own.agent("plugin:test/falling/default")
    bad = write_plugin(tmp_path / "two", "falling", version="0.2.0", prelude="raise RuntimeError('no luck today')")

    with ThreadPoolExecutor(1) as elsewhere:
        installing = elsewhere.submit(install, own, bad)
        answers = [texts(own.ask(agent, "who?"))]
        while not installing.done():
            answers.append(texts(own.ask(agent, "who?")))
        refused = installing.result()

    assert (refused.status_code, error_code(refused)) == (409, "plugin_not_started")
    assert "0.1.0 goes on" in refused.json()["error"]["message"]
    assert "no luck today" in refused.json()["error"]["message"]
    assert answers == [["one"]] * len(answers)
    assert plugin_response(own, "test/falling")["version"] == "0.1.0"
    assert "0.2.0 could not be started" in plugin_response(own, "test/falling")["reason"]


def waiting_for(gate: str) -> str:
    """Returns code that waits until this file is in the plugin's own folder."""
    return (
        "import os, pathlib, time\n"
        f"gate = pathlib.Path(os.environ['PARLOUR_PLUGIN_DATA']) / {gate!r}\n"
        "while not gate.exists():\n    time.sleep(0.01)\n"
    )


def test_a_plugin_that_hangs_at_its_start_delays_no_other_and_its_next_version_waits(own: Host, tmp_path: Path) -> None:
    assert install(own, write_plugin(tmp_path / "one", "hanging", answer="one")).status_code == 201
    agent = own.agent("plugin:test/hanging/default")
    slow = write_plugin(tmp_path / "two", "hanging", version="0.2.0", answer="two", prelude=waiting_for("open"))
    bad = write_plugin(tmp_path / "three", "hanging", version="0.3.0", prelude="raise RuntimeError('no luck today')")

    with ThreadPoolExecutor(2) as elsewhere:
        second = elsewhere.submit(install, own, slow)
        eventually(lambda: "0.2.0 is about to" in (plugin_response(own, "test/hanging")["reason"] or ""), "it starts")
        third = elsewhere.submit(install, own, bad)
        assert install(own, write_plugin(tmp_path / "quick", "quick")).status_code == 201
        own.install(write_plugin(tmp_path / "quicker", "quicker"))
        assert own.http().delete("/plugins/test/quick").status_code == 204
        assert not second.done()
        assert texts(own.ask(agent, "who?")) == ["one"]
        (own.home / "plugin-data" / "test" / "hanging" / "open").touch()

        assert (second.result().status_code, second.result().json()["version"]) == (201, "0.2.0")
        assert (third.result().status_code, error_code(third.result())) == (409, "plugin_not_started")

    assert plugin_response(own, "test/hanging")["version"] == "0.2.0"
    assert texts(own.ask(agent, "who?")) == ["two"]


@pytest.mark.both_runtimes
def test_a_first_version_that_does_not_start_is_shown_as_failed(own: Host, tmp_path: Path) -> None:
    made = install(own, write_plugin(tmp_path / "plugin", "stillborn", prelude="raise RuntimeError('no luck today')"))

    assert made.status_code == 201
    eventually(lambda: plugin_response(own, "test/stillborn")["status"] == "failed", "it is given up")
    assert "no luck today" in plugin_response(own, "test/stillborn")["reason"]
    again = own.http().post("/plugins/test/stillborn/restart")
    assert (again.status_code, error_code(again)) == (409, "plugin_not_started")


def test_an_unavailable_requirement_is_refused_and_the_plugin_shown_as_failed(own: Host, tmp_path: Path) -> None:
    refused = install(own, write_plugin(tmp_path / "plugin", "wanting", requirements="parlour-test-no-such-package\n"))

    assert (refused.status_code, error_code(refused)) == (422, "environment_failed")
    assert "parlour-test-no-such-package" in refused.json()["error"]["message"]
    assert "name an index that has the package" in refused.json()["error"]["message"]
    failed = plugin_response(own, "test/wanting")
    assert (failed["version"], failed["status"], failed["installed_at"]) == ("0.1.0", "failed", None)
    assert "parlour-test-no-such-package" in failed["reason"]
    refused = own.http().post("/plugins/test/wanting/restart")
    assert (refused.status_code, error_code(refused)) == (409, "plugin_unusable")
    assert own.http().delete("/plugins/test/wanting").status_code == 204
    assert plugin_response(own, "test/wanting") == {}


def test_a_restart_starts_a_new_process(own: Host, tmp_path: Path) -> None:
    install(own, write_plugin(tmp_path / "plugin", "restarted"))
    before = own.plugin_process("test/restarted").pid

    answer = own.http().post("/plugins/test/restarted/restart")

    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    eventually(lambda: own.plugin_process("test/restarted").pid != before, "it has another process")


def test_the_log_endpoint_returns_the_last_lines_of_the_plugin(own: Host, tmp_path: Path) -> None:
    prelude = "import sys\nfor number in range(300):\n    print('line', number, file=sys.stderr)\nsys.stderr.flush()"
    install(own, write_plugin(tmp_path / "plugin", "talking", prelude=prelude))

    def lines(limit: int) -> list[str]:
        return list(own.http().get("/plugins/test/talking/logs", params={"limit": limit}).json()["items"])

    eventually(lambda: "line 299" in lines(1000), "all is written")
    assert len(lines(10)) == 10
    assert lines(1000).index("line 0") < lines(1000).index("line 299")


def test_a_disabled_plugin_stops_and_an_enabled_one_serves_again(own: Host, tmp_path: Path) -> None:
    install(own, write_plugin(tmp_path / "plugin", "switched"))
    agent = own.agent("plugin:test/switched/default")

    off = own.http().put("/plugins/test/switched", json={"enabled": False})
    assert (off.json()["status"], off.json()["enabled"]) == ("disabled", False)
    assert own.plugin_status("test/switched") == ""
    assert own.ask(agent, "there?")["outcome"] == "failed"
    assert error_code(own.http().post("/plugins/test/switched/restart")) == "disabled"

    assert own.http().put("/plugins/test/switched", json={"enabled": True}).json()["status"] == "ready"
    assert texts(own.ask(agent, "there?")) == ["here"]


@pytest.mark.parametrize("data", ["keep", "delete", None])
def test_a_removed_plugin_is_gone_and_its_data_is_kept_or_deleted_as_requested(
    own: Host, tmp_path: Path, data: str | None
) -> None:
    name = f"removed-{data}".lower()
    install(own, write_plugin(tmp_path / "plugin", name))
    agent = own.agent(f"plugin:test/{name}/default")
    data_file = own.home / "plugin-data" / "test" / name / "kept.txt"
    data_file.write_text("mine")

    answer = own.http().delete(f"/plugins/test/{name}", params={} if data is None else {"data": data})

    assert (answer.status_code, answer.content) == (204, b"")
    assert data_file.exists() == (data != "delete")
    assert plugin_response(own, f"test/{name}") == {}
    assert own.http().get(f"/plugins/test/{name}").status_code == 404
    assert own.http().get(f"/agents/{agent}").status_code == 200
    result = own.ask(agent, "hello")
    assert (result["outcome"], f"test/{name}" in result["reason"]) == ("failed", True)


@pytest.mark.parametrize(("data", "found"), [("keep", "plugin secret, binding secret"), ("delete", "nothing")])
def test_stored_values_of_a_removed_plugin_are_kept_or_deleted_as_requested(
    own: Host, tmp_path: Path, data: str, found: str
) -> None:
    folder = write_remembering_plugin(tmp_path / "plugin", f"stored-{data}")
    install(own, folder)
    agent = own.agent(f"plugin:test/stored-{data}/default")
    assert texts(own.ask(agent, "secret")) == ["nothing"]

    assert own.http().delete(f"/plugins/test/stored-{data}", params={"data": data}).status_code == 204
    install(own, folder)

    assert texts(own.ask(agent, "again")) == [found]


def test_a_damaged_record_is_shown_and_repaired_or_removed(own: Host, tmp_path: Path) -> None:
    folder = write_plugin(tmp_path / "plugin", "damaged")
    install(own, folder)
    record = own.home / "plugins" / "test" / "damaged" / "record.json"
    record.write_text("}")
    own.install(write_plugin(tmp_path / "other", "beside-damaged"))  # a standalone runtime looks again too

    eventually(lambda: plugin_response(own, "test/damaged")["status"] == "failed", "it is shown as failed")
    assert "install the plugin again" in plugin_response(own, "test/damaged")["reason"]
    refused = own.http().put("/plugins/test/damaged", json={"enabled": False})
    assert (refused.status_code, error_code(refused)) == (409, "plugin_unusable")
    mended = install(own, folder)
    assert (mended.status_code, mended.json()["status"]) == (201, "ready")

    record.write_text("}")
    assert own.http().delete("/plugins/test/damaged", params={"data": "delete"}).status_code == 204
    assert plugin_response(own, "test/damaged") == {}
    eventually(lambda: not record.parent.exists(), "its code is gone")


@pytest.mark.both_runtimes
def test_an_upgrade_of_a_named_plugin_refuses_another_plugin(own: Host, tmp_path: Path) -> None:
    refused = install(own, write_plugin(tmp_path / "plugin", "another"), upgrade="parlour/echo-agent")

    assert (refused.status_code, error_code(refused)) == (409, "identity_mismatch")
    assert plugin_response(own, "test/another") == {}


def test_a_stopping_host_answers_a_client_that_waits_for_an_installation(make_host: MakeHost, tmp_path: Path) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\nexec sleep 60\n")
    uv.chmod(0o755)
    host = make_host(PARLOUR__PLUGINS__UV=uv, PARLOUR__PLUGINS__SANDBOX="off").start()
    source = write_plugin(tmp_path / "plugin", "slow", requirements="six")
    key, asked = host.key(), {"source": str(source)}

    with ThreadPoolExecutor(1) as elsewhere, httpx.Client(base_url=f"{host.address}/api/v1", verify=NO_TLS) as client:
        waiting = elsewhere.submit(client.post, "/plugins/install", json=asked, headers=bearer(key), timeout=30)
        eventually(lambda: plugin_response(host, "test/slow").get("status") == "building", "it is being built")
        host.stop()
        answer = waiting.result()

    assert (answer.status_code, error_code(answer)) == (503, "stopping")
    assert not list((host.home / "plugins").glob("*/*"))


def bad_zip(**entries: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return made.getvalue()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "x.zip is"),
        (b"not a zip", "x.zip is"),
        (bad_zip(**{"manifest.yaml": "kind: Plugin"})[:-60] + b"PK\x05\x06" + b"\xff" * 18, "x.zip is"),
        (bad_zip(**{"../../escaped.txt": "x"}), "escaped.txt"),
        (bad_zip(**{"readme.txt": "x"}), "manifest.yaml"),
        (bad_zip(**{"manifest.yaml": "kind: Toaster"}), "manifest.yaml"),
    ],
    ids=["nothing", "no zip", "damaged", "outside", "no manifest", "no plugin"],  # a zip contains its time
)
def test_a_bad_upload_is_refused_with_a_reason_and_leaves_nothing(own: Host, content: bytes, named: str) -> None:
    before = own.items("/plugins")

    refused = own.http().post("/plugins/install", files={"file": ("x.zip", content)})

    assert (refused.status_code, error_code(refused)) == (422, "plugin_invalid")
    assert named in refused.json()["error"]["message"]
    assert str(own.data) not in refused.text
    assert own.items("/plugins") == before
    assert not list((own.data / "uploads").iterdir())


def test_an_upload_over_the_limit_is_refused_and_one_over_the_limit_of_other_bodies_is_not(
    own: Host, tmp_path: Path
) -> None:
    folder = write_plugin(tmp_path / "plugin", "large")
    (folder / "large.bin").write_bytes(bytes(1_500_000))
    file = tmp_path / "large.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
        for path in folder.iterdir():
            packed.write(path, path.name)

    assert upload(own, file).status_code == 201
    refused = own.http().post("/plugins/install", files={"file": ("x.zip", bytes(2_100_000))})
    assert (refused.status_code, error_code(refused)) == (413, "payload_too_large")
    assert not list((own.data / "uploads").iterdir())


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "source"),
        ({"source": ""}, "source"),
        ({"source": 5}, "source"),
        ({"source": "x", "colour": "red"}, "colour"),
        ({"source": "x", "granted": "all"}, "granted"),
        ([], "body"),
    ],
)
def test_a_wrong_body_is_refused_with_the_field(own: Host, body: object, field: str) -> None:
    refused = own.http().post("/plugins/install", json=body)

    assert refused.status_code == 422
    assert named_fields(refused)[0] == field


@pytest.mark.parametrize("texts_beside", [{"colour": "red"}, {"granted": "all"}, {"granted": '{"a": 1}'}])
def test_a_wrong_form_is_refused_with_the_field(own: Host, tmp_path: Path, texts_beside: dict[str, str]) -> None:
    refused = upload(own, write_zip(write_plugin(tmp_path / "plugin", "formed")), **texts_beside)

    assert refused.status_code == 422
    assert next(iter(texts_beside)) in refused.json()["error"]["message"]
    assert plugin_response(own, "test/formed") == {}


def test_a_body_that_is_neither_json_nor_a_form_is_refused(own: Host) -> None:
    refused = own.http().post("/plugins/install", content=b"x", headers={"content-type": "application/zip"})
    assert (refused.status_code, error_code(refused)) == (415, "unsupported_media_type")

    refused = own.http().post("/plugins/install", content=b"{", headers={"content-type": "application/json"})
    assert (refused.status_code, error_code(refused)) == (422, "invalid_argument")

    refused = own.http().post("/plugins/install", files={"other": ("x.zip", b"x")})
    assert (refused.status_code, error_code(refused)) == (422, "invalid_argument")


@pytest.mark.parametrize(
    "body", [{}, {"enabled": None}, {"colour": "red"}, {"granted": ["tools"]}, {"enabled": "maybe"}]
)
def test_a_wrong_change_is_refused(own: Host, body: Json) -> None:
    refused = own.http().put("/plugins/parlour/echo-agent", json=body)

    assert (refused.status_code, error_code(refused)) == (422, "invalid_argument")
    assert plugin_response(own, "parlour/echo-agent")["status"] == "ready"


@pytest.mark.parametrize("plugin_id", ["test/absent", "../..", "%2e%2e/x", "a/b%2fc"])
def test_a_plugin_that_is_not_installed_is_not_found(own: Host, plugin_id: str) -> None:
    http = own.http()
    path = f"/plugins/{plugin_id}"
    answers = [
        http.get(path),
        http.get(f"{path}/logs"),
        http.post(f"{path}/restart"),
        http.put(path, json={"enabled": True}),
        http.delete(path),
    ]

    assert {answer.status_code for answer in answers} <= {404, 405}


def test_each_scope_has_its_permissions_on_plugins(own: Host, tmp_path: Path) -> None:
    source = write_plugin(tmp_path / "plugin", "forbidden")
    calls = {
        "list": lambda http: http.get("/plugins"),
        "read": lambda http: http.get("/plugins/parlour/echo-agent"),
        "logs": lambda http: http.get("/plugins/parlour/echo-agent/logs"),
        "install": lambda http: http.post("/plugins/install", json={"source": str(source)}),
        "change": lambda http: http.put("/plugins/parlour/echo-agent", json={"enabled": True}),
        "restart": lambda http: http.post("/plugins/parlour/echo-agent/restart"),
        "remove": lambda http: http.delete("/plugins/parlour/echo-agent"),
    }
    allowed = {"chat": set(), "viewer": {"list", "read"}, "operator": {"list", "read", "logs"}}

    for scope, may in allowed.items():
        http = own.http(own.key(scope))
        answered = {name for name, call in calls.items() if call(http).status_code != 403}
        assert answered == may, scope

    assert httpx.get(f"{own.address}/api/v1/plugins", verify=NO_TLS).status_code == 401
    assert plugin_response(own, "parlour/echo-agent")["status"] == "ready"
    assert plugin_response(own, "test/forbidden") == {}

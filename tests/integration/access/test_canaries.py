"""Tests canaries in every place for a secret: whatever breaks, none is answered, logged, stored or
backed up in clear.
"""

import hashlib
import json
import signal
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from parlour.testing.model_server import ModelServer, Refuse
from tests.support.commands import parlour, parlour_here
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, ROOT, Host, bearer, eventually, texts
from tests.support.onebot import free_port

LEAKING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "leaking-agent"
LEAK = "plugin:test/leaking-agent/default"
CANARIES = {
    name: f"canary-{name}-8f3b5c7d9e"
    for name in ("environment", "agent", "bot", "provider", "webhook", "route", "header", "mcp")
} | {"caller": "parlour_canary-caller-8f3b5c7d9e-8f3b5c7d9e"}


class CanaryHost(NamedTuple):
    host: Host
    agent_id: str
    responses: list[str]
    """Bodies of all responses so far."""


@pytest.fixture(scope="module")
def service() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def canary_host(tmp_path_factory: pytest.TempPathFactory, service: ModelServer) -> Iterator[CanaryHost]:
    """Starts a Host that holds every canary and whose interpreter reports crashes."""
    folder = tmp_path_factory.mktemp("canaries")
    settings = {
        "PARLOUR__ARTIFACTS__STORE": "s3",
        "PARLOUR__ARTIFACTS__S3__ENDPOINT": "http://127.0.0.1:9",
        "PARLOUR__ARTIFACTS__S3__BUCKET": "bucket",
        "PARLOUR__ARTIFACTS__S3__ACCESS_KEY": "access",
        "PARLOUR__ARTIFACTS__S3__SECRET_KEY": CANARIES["environment"],
        "PARLOUR__PLUGINS__FIRST_RESTART_SECONDS": 0.05,
        "PYTHONFAULTHANDLER": 1,
    }
    host = Host(folder, **settings)
    host.install(LEAKING_PLUGIN)
    host.install(ECHO_PLUGIN)
    host.start()
    agent_id = host.agent(LEAK, config={"api_key": CANARIES["agent"]}, restart_policy="never")
    yield CanaryHost(host, agent_id, store_canaries(host, service, host.agent(ECHO, event_types=["*"])))
    host.close()


def store_canaries(host: Host, service: ModelServer, agent_id: str) -> list[str]:
    """Stores a canary in every field that accepts a secret."""
    config = {"mode": "reverse", "port": free_port(), "access_token": CANARIES["bot"]}
    bot = create(host, "/bots", name="parrot", adapter="onebot11", adapter_config=config)
    address = f"{service.address}/v1"
    provider = create(host, "/model-providers", name="P", kind="openai-compatible", base_url=address, api_keys=[key()])
    model = create(host, "/models", provider_id=provider["provider_id"], name="fake")
    hook = create(host, "/webhooks", name="hook", agent_id=agent_id, secret=CANARIES["webhook"], enabled=True)
    remote = {"name": "remote", "transport": "http", "url": "http://127.0.0.1:9/mcp"}
    server = create(host, "/mcp-servers", **remote, headers={"X-Key": CANARIES["mcp"]})
    target = {"url": "http://127.0.0.1:9/", "secret": CANARIES["route"], "headers": {"X-Key": CANARIES["header"]}}
    route = {"event_type": "message.*", "handler_type": "webhook", "handler_config": target}
    routes = host.http().put(f"/bots/{bot['bot_id']}/routes", json=[route])
    assert routes.status_code == 200, routes.text
    service.will(*[Refuse(401, f"the key {key()} is unknown")] * 3)
    del hook["secret"]  # the secret is shown this once
    asked = [
        host.http().post(f"/models/{model['model_id']}/test"),
        host.http().post(f"/mcp-servers/{server['server_id']}/test"),
        httpx.post(
            f"{host.address}{hook['path']}", content=b"{}", headers={"webhook-id": "1"}, timeout=30, verify=NO_TLS
        ),
        httpx.get(
            f"http://127.0.0.1:{config['port']}/", headers={"Authorization": "Bearer wrong"}, timeout=30, verify=NO_TLS
        ),
        host.http().post("/files", files={"file": ("a.txt", b"abc")}),
        routes,
    ]
    assert not asked[0].json()["ok"], asked[0].text
    return [json.dumps([bot, provider, model, hook, server]), *(answer.text for answer in asked)]


def key() -> str:
    return CANARIES["provider"]


def create(host: Host, path: str, **body: object) -> dict[str, object]:
    answer = host.http().post(path, json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_a_secret_of_an_agent_reaches_its_runner_and_is_kept_when_its_mask_is_sent_back(
    canary_host: CanaryHost,
) -> None:
    host, agent_id = canary_host.host, canary_host.agent_id
    digest = hashlib.sha256(CANARIES["agent"].encode()).hexdigest()
    assert texts(host.ask(agent_id, "digest")) == [digest]
    shown = host.http().get(f"/agents/{agent_id}").json()
    assert shown["runner_config"] == {"api_key": "********"}
    body = {name: shown[name] for name in ("name", "runner_id", "runner_config", "restart_policy")}

    again = host.http().put(f"/agents/{agent_id}", json=body)

    assert again.status_code == 200, again.text
    assert texts(host.ask(agent_id, "digest")) == [digest]


def test_no_canary_is_answered_logged_stored_or_backed_up_whatever_breaks(
    canary_host: CanaryHost, tmp_path: Path
) -> None:
    host, responses = canary_host.host, list(canary_host.responses)
    runs = [host.ask(canary_host.agent_id, deed)["run"]["run_id"] for deed in ("log", "fail", "crash", "call")]
    responses += [json.dumps(host.items(path)) for path in list_paths(host)]
    responses += [json.dumps([host.run(run), host.items(f"/runs/{run}/events")]) for run in runs]
    responses.append(eventually(lambda: host.http().get("/plugins/test/leaking-agent/logs").text, "the plugin's log"))
    responses.append(parlour_here("why", runs[1], "--data", host.data).stdout)
    responses.append(
        httpx.get(f"{host.address}/api/v1/runs", headers=bearer(CANARIES["caller"]), timeout=30, verify=NO_TLS).text
    )
    saved = parlour_here("backup", tmp_path / "one.backup", "--data", host.data)
    assert saved.returncode == 0, saved.stderr
    files = [*unpacked(tmp_path / "one.backup"), *stored_files(host.data)]
    host.process.send_signal(signal.SIGABRT)
    host.process.wait(30)
    eventually(lambda: "Fatal Python error: Aborted" in host.log(), "the crash is logged")
    files += [*stored_files(host.data), ("log", host.log().encode()), ("printed", "\n".join(host.printed()).encode())]

    found = {
        name: [
            *(text[:300] for text in responses if canary in text),
            *(file for file, data in files if canary.encode() in data),
        ]
        for name, canary in CANARIES.items()
    }

    assert found == {name: [] for name in CANARIES}
    assert any("the server refused the key [redacted]" in text for text in responses), "the canaries were used"
    assert any("connecting with [redacted]" in text for text in responses)
    host.kill()
    host.start()


def list_paths(host: Host) -> list[str]:
    """Returns the path of every list in the document that has no parameter."""
    document = httpx.get(f"{host.address}/api/v1/openapi.json", timeout=30, verify=NO_TLS).json()
    paths = [path.removeprefix("/api/v1") for path, methods in document["paths"].items() if "get" in methods]
    lists = [path for path in paths if "{" not in path and path not in ("/healthz", "/readyz", "/metrics")]
    return [path for path in lists if "items" in host.http().get(path).json()]


def stored_files(folder: Path) -> list[tuple[str, bytes]]:
    """Returns the database, its write-ahead log and all other files."""
    assert list(folder.glob("*.db-wal"))
    return [(str(path), path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()]


def unpacked(backup: Path) -> list[tuple[str, bytes]]:
    with tarfile.open(backup) as archive:
        entries = [(entry.name, archive.extractfile(entry)) for entry in archive]
        return [(f"backup:{name}", content.read()) for name, content in entries if content is not None]


def test_an_unexpected_error_shows_no_secret(tmp_path: Path) -> None:
    """Breaks the Host on purpose, so that it ends with an exception that contains the secret."""
    (tmp_path / "sitecustomize.py").write_text(
        "import parlour.app.server as serving\n"
        "async def broken(settings, *rest):\n"
        "    raise RuntimeError('connecting with ' + settings.telemetry.headers.get_secret_value())\n"
        "serving.serve = broken\n"
    )
    environment = {"PYTHONPATH": str(tmp_path), "PARLOUR__TELEMETRY__HEADERS": CANARIES["environment"]}

    ended = parlour("serve", "--data", tmp_path / "data", "--port", "0", environment=environment)

    assert ended.returncode == 1
    assert "RuntimeError: connecting with [redacted]" in ended.stderr
    assert CANARIES["environment"] not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    "line", ['url: "postgresql://u:{}@h/d', "url: *{}", "url: !{} x", "url: {}: {}", "{}\n  : ["], ids=range(5)
)
def test_an_invalid_settings_file_is_refused_without_quoting_it(tmp_path: Path, line: str) -> None:
    secret = CANARIES["environment"]
    file = tmp_path / "config.yaml"
    file.write_text(f"database:\n  {line.replace('{}', secret)}\n")

    ended = parlour_here("db", "current", "--config", file, "--data", tmp_path / "data")

    assert ended.returncode == 1
    assert "is not YAML: line " in ended.stderr
    assert secret not in ended.stderr


def test_an_unreachable_database_is_reported_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://u:{CANARIES['environment']}@127.0.0.1:9/d"

    ended = parlour_here("db", "current", "--data", tmp_path / "data", environment={"PARLOUR__DATABASE__URL": url})

    assert ended.returncode == 1
    assert CANARIES["environment"] not in ended.stdout + ended.stderr

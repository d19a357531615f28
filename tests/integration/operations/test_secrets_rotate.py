"""Tests `parlour secrets rotate` with a running Host, one that is killed during it, and a stopped one."""

import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

from parlour.app.secret_key import SecretKeyFiles
from parlour.core.model.webhook_signing import signature_headers as signed
from tests.integration.conftest import MakeHost
from tests.support.commands import parlour, refusal
from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, Host, Json, eventually

BODY = b'{"text": "the cellar is wet"}'


def add_webhook(host: Host, agent: str) -> Json:
    made = host.http().post("/webhooks", json={"name": "alarm", "agent_id": agent})
    assert made.status_code == 201, made.text
    return dict(made.json())


def accepts(host: Host, webhook: Json, name: str) -> bool:
    """Returns whether the Host can read the webhook's secret, and so verify a call."""
    headers = signed(webhook["secret"], name, int(time.time()), BODY)
    answer = httpx.post(f"{host.address}{webhook['path']}", content=BODY, headers=headers, timeout=30, verify=NO_TLS)
    return answer.status_code == 202


def all_accept(host: Host, webhooks: list[Json], name: str) -> bool:
    return all(accepts(host, webhook, f"{name} {number}") for number, webhook in enumerate(webhooks))


def key_files(host: Host) -> list[str]:
    return sorted(path.name for path in host.data.glob("secret.key*"))


def test_a_running_host_replaces_its_key_while_secrets_are_added(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(ECHO, event_types=["api.invoked"])
    webhooks = [add_webhook(host, agent)]
    old_key = (host.data / "secret.key").read_bytes()
    stop = threading.Event()
    adding = threading.Thread(
        target=lambda: [webhooks.append(add_webhook(host, agent)) for _ in iter(stop.is_set, True)]
    )
    adding.start()

    rotated = parlour("secrets", "rotate", "--data", host.data)
    stop.set()
    adding.join()

    assert rotated.returncode == 0, rotated.stderr
    assert rotated.stdout.startswith("the running Host has sealed all secrets with a new key")
    assert (host.data / "secret.key").read_bytes() != old_key
    assert len(webhooks) > 1
    assert all_accept(host, webhooks, "running")
    [entry] = host.items("/audit", action="secrets.rotate")
    assert entry["actor"] == "command line"
    host.restart()
    assert all_accept(host, webhooks, "restarted")
    host.stop()
    completed = parlour("secrets", "rotate", "--data", host.data)
    assert completed.stdout.startswith("a replacement that was interrupted is completed\n0 secrets"), completed
    assert key_files(host) == ["secret.key"]
    host.start()
    assert all_accept(host, webhooks, "with the new key alone")


def test_a_host_that_is_killed_completes_the_replacement_when_it_is_started(make_host: MakeHost) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(ECHO, event_types=["api.invoked"])
    webhooks = [add_webhook(host, agent) for _ in range(5)]
    SecretKeyFiles(host.data / "secret.key").begin()
    host.process.send_signal(signal.SIGHUP)
    host.kill()

    host.start()

    eventually(lambda: key_files(host) == ["secret.key", "secret.key.previous"], "the new key has taken its place")
    assert all_accept(host, webhooks, "started again")


def test_a_key_that_is_damaged_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_bytes(b"short")

    assert "has 5 bytes, not 32" in refusal("secrets", "rotate", "--data", tmp_path)
    assert (tmp_path / "secret.key").read_bytes() == b"short"


@pytest.mark.long
def test_a_backup_during_a_replacement_contains_both_keys(make_host: MakeHost, tmp_path: Path) -> None:
    host = make_host(ECHO_PLUGIN).start()
    webhook = add_webhook(host, host.agent(ECHO, event_types=["api.invoked"]))
    host.stop()
    SecretKeyFiles(host.data / "secret.key").begin()

    assert "their key is being replaced" in parlour("doctor", "--data", host.data).stdout
    assert parlour("backup", tmp_path / "one.backup", "--data", host.data).returncode == 0
    restored = Host(tmp_path / "restored")
    assert parlour("restore", tmp_path / "one.backup", "--data", restored.data).returncode == 0
    restored.start()
    try:
        assert accepts(restored, webhook, "restored")
    finally:
        restored.close()

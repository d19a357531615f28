"""Tests a Host that stores files in S3-compatible storage: it serves the same files and has none on its disk."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.testing.s3_server import S3Server
from tests.integration.conftest import MakeHost
from tests.support.harness import ROOT, Host, error_code, texts

FILING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "filing-agent"
FILER = "plugin:test/filing-agent/default"


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


def settings(server: S3Server, **changes: str) -> dict[str, str]:
    account = server.account("files/")
    settings_by_name = {
        "ENDPOINT": account.endpoint,
        "BUCKET": account.bucket,
        "ACCESS_KEY": account.access_key,
        "SECRET_KEY": account.secret_key,
        "PREFIX": account.prefix,
        **changes,
    }
    named = {f"PARLOUR__ARTIFACTS__S3__{name}": value for name, value in settings_by_name.items()}
    return {"PARLOUR__ARTIFACTS__STORE": "s3", **named}


def files_on_disk(host: Host) -> list[Path]:
    return [path for path in (host.data / "artifacts").rglob("*") if path.is_file()]


def test_files_are_stored_in_the_bucket_and_read_back(make_host: MakeHost, server: S3Server) -> None:
    host = make_host(FILING_PLUGIN, **settings(server))
    host.start()
    agent = host.agent(FILER)
    made = json.loads(texts(host.ask(agent, json.dumps({"make_large": {"mebibytes": 3}}), conversation_id="c"))[0])
    digest = json.dumps({"digest": {"artifact_id": made["artifact_id"]}})
    assert json.loads(texts(host.ask(agent, digest, conversation_id="c"))[0]) == made["sha256"]
    part = host.http().get(f"/artifacts/{made['artifact_id']}/content", headers={"Range": "bytes=1-3"})
    assert (part.status_code, part.content) == (206, b"\x01\x02\x03")
    assert files_on_disk(host) == []


def test_a_host_with_a_wrong_secret_reports_it_and_keeps_running(make_host: MakeHost, server: S3Server) -> None:
    host = make_host(FILING_PLUGIN, **settings(server, SECRET_KEY="wrongly"))
    host.start()
    refused = host.http().post("/files", files={"file": ("a", b"x")})
    assert (refused.status_code, error_code(refused)) == (503, "storage_failed")
    assert "artifacts.s3.access_key" in refused.text
    assert "wrongly" not in refused.text + host.log()
    answered = host.ask(host.agent(FILER), json.dumps({"seen": {}}))
    assert answered["outcome"] == "answered"

"""Canaries: secrets of the configuration, the environment and an agent, which nothing that is kept or told may hold."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .commands import parlour_here
from .harness import ROOT, Host, bearer, error_code, eventually
from .harness import message as event

LEAKING_PLUGIN = ROOT / "tests" / "plugins" / "leaking-agent"
LEAK = "plugin:test/leaking-agent/default"
OF_THE_ENVIRONMENT = "canary-of-the-environment-4711"
OF_THE_AGENT = "canary-of-the-agent-4712"
OF_A_CALLER = "parlour_canary-of-a-caller-4713-4713-4713"


@pytest.fixture(scope="module")
def leaking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Its object store is nowhere, so that there are errors to tell of."""
    s3 = {
        "PARLOUR__ARTIFACTS__STORE": "s3",
        "PARLOUR__ARTIFACTS__S3__ENDPOINT": "http://127.0.0.1:9",
        "PARLOUR__ARTIFACTS__S3__BUCKET": "bucket",
        "PARLOUR__ARTIFACTS__S3__ACCESS_KEY": "access",
        "PARLOUR__ARTIFACTS__S3__SECRET_KEY": OF_THE_ENVIRONMENT,
    }
    host = Host(tmp_path_factory.mktemp("leaking"), **s3)
    host.install(LEAKING_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def agent(leaking: Host) -> str:
    return leaking.agent(LEAK, config={"api_key": OF_THE_AGENT}, restart_policy="never")


def kept(folder: Path) -> bytes:
    """Everything in files; the database is one, with its log beside it."""
    assert list(folder.glob("*.db-wal"))
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def test_a_secret_of_an_agent_reaches_its_runner_and_is_told_to_nobody_else(leaking: Host, agent: str) -> None:
    result = leaking.ask(agent, "digest")
    assert result["messages"][0]["content"] == hashlib.sha256(OF_THE_AGENT.encode()).hexdigest()
    shown = leaking.http().get(f"/agents/{agent}").json()
    assert shown["runner_config"] == {"api_key": "********"}
    again = leaking.http().put(f"/agents/{agent}", json={**body(shown), "restart_policy": "never"})
    assert again.status_code == 200, again.text
    assert leaking.ask(agent, "digest")["messages"] == result["messages"]


def body(shown: dict[str, object]) -> dict[str, object]:
    """An agent as it is sent back."""
    return {name: shown[name] for name in ("name", "runner_id", "runner_config")}


def test_nothing_that_is_kept_or_told_holds_a_secret(leaking: Host, agent: str) -> None:
    told = [leaking.ask(agent, deed) for deed in ("log", "fail", "crash", "call")]
    runs = [leaking.run(each["run"]["run_id"]) for each in told]
    assert [run["status"] for run in runs] == ["completed", "failed", "failed", "failed"]
    answers = [leaking.http().get(f"/events/{each['event_id']}/why").text for each in told]
    answers += [json.dumps([told, runs]), *(json.dumps(leaking.items(f"/runs/{run['run_id']}/events")) for run in runs)]
    lines = eventually(lambda: leaking.http().get("/plugins/test/leaking-agent/logs").text, "the plugin's log")
    assert "connecting with [redacted]" in lines
    rejected = leaking.http(OF_A_CALLER).post("/events", json=event(agent, "x"), headers=bearer(OF_A_CALLER))
    assert error_code(rejected) == "unauthenticated"
    upload = leaking.http().post("/files", files={"file": ("a.txt", b"abc")})
    assert upload.status_code >= 500, upload.text
    why = parlour_here("why", told[1]["event_id"], "--data", leaking.data).stdout
    answers += [lines, rejected.text, upload.text, why, leaking.http().get("/audit").text, leaking.log()]
    everything = "\n".join([*answers, *leaking.printed()]).encode() + kept(leaking.data)
    for canary in (OF_THE_ENVIRONMENT, OF_THE_AGENT, OF_A_CALLER):
        assert canary.encode() not in everything, where(canary, answers, leaking.data)
    assert b"the server refused the key [redacted]" in everything


def where(canary: str, answers: list[str], folder: Path) -> str:
    found = [text[:200] for text in answers if canary in text]
    files = [str(path) for path in folder.rglob("*") if path.is_file() and canary.encode() in path.read_bytes()]
    return f"{canary} is in {found + files}"

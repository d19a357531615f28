"""Tests what a backup has of coding agents and of requests to doors: sessions and request ids, but no folders."""

import sys
from pathlib import Path

import openai
import pytest

from parlour.testing.postgres_server import PostgresServer
from tests.integration.harnesses.conftest import ACP, open_host, scripted_config
from tests.integration.harnesses.test_scripted_harness import said
from tests.support.commands import parlour_here
from tests.support.harness import Host, Json

pytestmark = pytest.mark.long
PROGRAMS = {"PARLOUR__PROGRAMS__FOLDERS": str(Path(sys.executable).parent)}


def repeatable(host: Host, key: str, agent: str) -> str:
    """Asks with a request id, and returns the id of the answer."""
    client = openai.OpenAI(base_url=f"{host.address}/v1", api_key=key, max_retries=0, timeout=60)
    answer = client.chat.completions.create(
        model=f"agent:{agent}",
        messages=[{"role": "user", "content": "ask once"}],
        extra_headers={"Idempotency-Key": "mine"},
    )
    assert str(answer.choices[0].message.content).strip() == "ask once"
    return answer.id


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_sessions_and_request_ids_are_restored_and_folders_are_not(tmp_path: Path, database: str) -> None:
    if database == "sqlite":
        restored(tmp_path, {}, {})
        return
    with PostgresServer() as server:
        first, second = ({"PARLOUR__DATABASE__URL": server.url(server.create())} for _ in range(2))
        restored(tmp_path, first, second)


def restored(folder: Path, first: dict[str, str], second: dict[str, str]) -> None:
    host = open_host(folder / "one", **first).start()
    agent = host.agent(ACP, runner_config=scripted_config(), published=["openai"], restart_policy="never")
    key, admin = host.key("chat"), host.key()
    answer_id = repeatable(host, key, agent)
    assert said(host, agent, "begin", conversation_id="one", key=admin) == "begin"
    assert said(host, agent, "about", conversation_id="one", key=admin).startswith("2 messages")
    made = parlour_here("backup", folder / "one.backup", "--data", host.data, environment=first)
    assert made.returncode == 0, made.stderr
    runs = [run["run_id"] for run in host.items("/runs")]
    assert (host.home / "programs" / "workspaces").is_dir()
    host.close()

    brought = parlour_here("restore", folder / "one.backup", "--data", folder / "two" / "data", environment=second)
    assert brought.returncode == 0, brought.stderr
    assert not (folder / "two" / "data" / "programs").exists()
    again = Host(folder / "two", **PROGRAMS, **second).start()
    try:
        assert repeatable(again, key, agent) == answer_id
        assert [run["run_id"] for run in again.items("/runs")] == runs
        # The session is known but its files are gone with the home folder, so a new one begins in the same folder.
        assert said(again, agent, "about", conversation_id="one", key=admin).startswith("1 messages")
        [newest, *_] = again.items("/runs")
        changed: list[Json] = again.items(f"/runs/{newest['run_id']}/events")
        keys = [each["data"].get("key") for each in changed if each["type"] == "state.updated"]
        assert "external.workspace" not in keys
    finally:
        again.close()

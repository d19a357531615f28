"""Tests what a real Host records in its audit about changes and uses."""

from pathlib import Path

from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO_PLUGIN, Host, Json
from tests.support.plugins import write_plugin


def changes(host: Host, action: str) -> list[Json]:
    return host.items("/audit", kind="admin", action=action)


def test_changes_are_audited_with_principal_target_before_and_after(make_host: MakeHost, tmp_path: Path) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent_id = host.agent(name="first")
    body = {"name": "second", "runner_id": "plugin:parlour/echo-agent/default"}
    assert host.http().put(f"/agents/{agent_id}", json=body).status_code == 200
    assert host.http().delete(f"/agents/{agent_id}").status_code == 204
    source = {"source": str(write_plugin(tmp_path / "plugin", "audited"))}
    assert host.http().post("/plugins/install", json=source).status_code == 201
    assert host.http().put("/plugins/test/audited", json={"enabled": False}).status_code == 200

    (key,) = changes(host, "key.create")
    who = f"key:{key['resource']}"
    (replaced,) = changes(host, "agent.replace")
    assert (replaced["actor"], replaced["resource"]) == (who, agent_id)
    assert [replaced["detail"][when]["name"] for when in ("before", "after")] == ["first", "second"]
    assert [entry["detail"]["before"] for entry in changes(host, "agent.create")] == [None]
    assert [entry["detail"]["after"] for entry in changes(host, "agent.delete")] == [None]
    assert [entry["resource"] for entry in changes(host, "plugin.install")] == ["test/audited"]
    (disabled,) = changes(host, "plugin.change")
    assert [disabled["detail"][when]["enabled"] for when in ("before", "after")] == [True, False]

    host.restart()
    assert changes(host, "plugin.change") == [disabled]

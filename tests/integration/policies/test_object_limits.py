"""Tests the limits on the number of agents, bots and plugins through the real program."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.support.harness import ECHO, ECHO_PLUGIN, PUPPET_PLUGIN, Host, error_code

BOT = {"name": "desk", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 1}, "enabled": False}
LIMITS = {
    "PARLOUR__LIMITS__AGENTS": 3,
    "PARLOUR__LIMITS__BOTS": 1,
    "PARLOUR__LIMITS__PLUGINS": 1,
    "PARLOUR__LIMITS__KNOWLEDGE_BASES": 1,
}


def test_objects_beyond_their_limits_are_refused_also_at_the_same_moment(make_host: Callable[..., Host]) -> None:
    host = make_host(ECHO_PLUGIN, **LIMITS).start()
    http = host.http()
    existing = len(host.items("/agents"))

    def create(number: int) -> int:
        return host.http().post("/agents", json={"name": f"a{number}", "runner_id": ECHO}).status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = list(threads.map(create, range(8)))
    assert statuses.count(201) == 3 - existing
    assert set(statuses) == {201, 409}

    assert http.post("/bots", json=BOT).status_code == 201
    refused = http.post("/bots", json=BOT)
    assert (refused.status_code, error_code(refused)) == (409, "limit_reached")
    assert "limits.bots" in refused.json()["error"]["message"]

    assert http.post("/knowledge-bases", json={"name": "Handbook"}).status_code == 201
    second = http.post("/knowledge-bases", json={"name": "Recipes"})
    assert (second.status_code, error_code(second)) == (409, "limit_reached")
    assert "limits.knowledge_bases" in second.json()["error"]["message"]

    plugin = http.post("/plugins/install", json={"source": str(PUPPET_PLUGIN)})
    assert (plugin.status_code, error_code(plugin)) == (409, "limit_reached")
    agent = host.items("/agents")[0]["agent_id"]
    assert http.delete(f"/agents/{agent}").status_code == 204
    assert create(9) == 201

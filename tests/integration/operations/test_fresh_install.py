"""Tests that a fresh install answers at once and uses the first real model that is added."""

from parlour.testing.model_server import ModelServer
from tests.integration.conftest import MakeHost
from tests.integration.models.test_models import add_model, add_provider
from tests.support.harness import texts


def test_a_fresh_install_answers_and_adopts_the_first_model_only(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__PLUGINS__BUNDLED="true").start()
    [agent] = host.items("/agents")
    agent_id = agent["agent_id"]
    assert agent["runner_id"] == "plugin:parlour/local-agent/default"
    assert [model["model_id"] for model in host.items("/models")] == ["demo"]
    assert host.items("/models")[0]["prices"] == {"input": 0, "output": 0, "cached_input": None}
    result = host.ask(agent_id, "hello")
    assert "add a provider" in texts(result)[0]
    used = host.run(result["run"]["run_id"])["usage"]
    assert (used["cost_micros"], "unpriced_calls" in used) == (0, False)

    with ModelServer() as server:
        provider_id = add_provider(host, server)
        first, _ = add_model(host, provider_id), add_model(host, provider_id, name="second")
        assert host.items("/agents")[0]["runner_config"]["model"] == {"primary": first, "fallbacks": []}
        assert texts(host.ask(agent_id, "hello")) == ["pong"]
        assert server.requests[-1].body["model"] == "fake"

    host.restart()
    assert [each["agent_id"] for each in host.items("/agents")] == [agent_id]
    assert len(host.items("/models")) == 3

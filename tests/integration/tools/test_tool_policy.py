"""Tests that an agent's tool policy puts a tool call before a person, through the local agent and the HTTP API."""

from collections.abc import Iterator

import pytest

from tests.support.harness import Json, eventually, named_fields, texts
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost, calls


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("tool policy"))
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


def pending(host: ScriptedModelsHost) -> Json:
    [approval] = eventually(lambda: host.items("/approvals", status="pending"), "the call is asked about", 30)
    return dict(approval)


def asking_agent(host: ScriptedModelsHost, policy: list[Json]) -> str:
    agent = host.local(tools=["meet"])
    body = host.http().get(f"/agents/{agent}").json()
    answer = host.http().put(f"/agents/{agent}", json={**body, "tool_policy": policy})
    assert answer.status_code == 200, answer.text
    assert [entry["tools"] for entry in answer.json()["tool_policy"]] == [entry["tools"] for entry in policy]
    return agent


@pytest.mark.parametrize(("decision", "said"), [("approve", "ann has met the others"), ("deny", "not today")])
def test_a_call_waits_for_the_decision_and_its_model_reads_what_came_of_it(
    host: ScriptedModelsHost, decision: str, said: str
) -> None:
    agent = asking_agent(host, [{"tools": ["meet"], "decide": "ask", "seconds": 600}])
    host.write(calls(("meet", {"name": "ann", "number": 1})), "well")
    event = host.send(agent, "do they meet?", key=host.key("chat"))
    approval = pending(host)
    assert (approval["action"], approval["call"]["tool"]) == ("tool.call", "meet")
    assert approval["call"]["arguments"] == {"name": "ann", "number": 1}
    assert not host.lines("tool"), "nothing is called before the decision"
    body = {"decision": decision, "reason": "not today"}
    answer = host.http().post(f"/approvals/{approval['approval_id']}", json=body)
    assert answer.status_code == 200, answer.text
    run = eventually(lambda: _ended_run(host, event["event_id"]), "the run ends", 30)
    [told] = [each["content"] for each in host.requests()[1]["messages"] if each["role"] == "tool"]
    assert said in told
    assert run["status"] == "completed"


def test_a_denied_tool_is_refused_to_the_model(host: ScriptedModelsHost) -> None:
    agent = asking_agent(host, [{"tools": ["*"], "decide": "deny"}])
    host.write(calls(("meet", {"name": "ann", "number": 1})), "well")
    assert texts(host.ask(agent, "do they meet?")) == ["well"]
    [told] = [each["content"] for each in host.requests()[1]["messages"] if each["role"] == "tool"]
    assert "tool policy does not allow 'meet'" in told
    assert not host.lines("tool")
    assert any(each["action"] == "call_tool" and each["code"] == "denied" for each in host.items("/audit"))


def test_a_wrong_policy_is_refused_with_the_name_of_its_field(host: ScriptedModelsHost) -> None:
    body = {"name": "x", "runner_id": "plugin:parlour/local-agent/default"}
    for entry, field in (
        ({"tools": [], "decide": "ask"}, "tool_policy.0.tools"),
        ({"tools": ["box.*"], "decide": "perhaps"}, "tool_policy.0.decide"),
        ({"tools": ["box.*"], "decide": "ask", "seconds": 1}, "tool_policy.0.seconds"),
    ):
        refused = host.http().post("/agents", json={**body, "tool_policy": [entry]})
        assert (refused.status_code, named_fields(refused)) == (422, [field])


def _ended_run(host: ScriptedModelsHost, event_id: str) -> Json | None:
    runs = [each for each in host.items("/runs") if each["event_id"] == event_id and each["finished_at"]]
    return dict(runs[0]) if runs else None

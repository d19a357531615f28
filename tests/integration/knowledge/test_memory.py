"""Tests the private memory of agents through a real Host: what is remembered, for whom, and how it is deleted."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.harness import Json, error_code, texts
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost, calls

PERSON = {"scope": "person", "consent": False}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = ScriptedModelsHost(tmp_path_factory.mktemp("memory host"), PARLOUR__RUNS__PER_SENDER_PER_MINUTE=0)
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


def agent_with(host: ScriptedModelsHost, policy: Json) -> str:
    agent = host.local()
    body = host.http().get(f"/agents/{agent}").json()
    changed = host.http().put(f"/agents/{agent}", json={**body, "memory_policy": policy})
    assert changed.status_code == 200, changed.text
    return agent


def sender(name: str, display_name: str = "") -> Json:
    return {"actor": {"actor_type": "user", "actor_id": name, "actor_name": display_name or name}}


def use(host: ScriptedModelsHost, agent: str, tool: str, given: Json, **event: Any) -> str:
    """Lets the agent call one tool, and returns what the tool answered."""
    host.write(calls((f"memory.{tool}", given)), "Done.")
    assert texts(host.ask(agent, "Hello", **event)) == ["Done."]
    *_, answer = [each["content"] for each in host.requests()[-1]["messages"] if each["role"] == "tool"]
    return str(answer)


def remembered(host: ScriptedModelsHost, agent: str) -> list[str]:
    return [each["text"] for each in host.items("/memories", agent_id=agent)]


def test_a_fact_is_recalled_in_a_later_conversation_of_the_same_person_only(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, PERSON)
    ann = sender("17", "Sam")
    fact = {"text": "The user is allergic to peanuts."}
    assert use(host, agent, "remember", fact, **ann).startswith("Remembered")
    assert use(host, agent, "remember", fact, **ann).startswith("Remembered")
    use(host, agent, "remember", {"text": "The user lives in Porto."}, **ann)
    assert len(remembered(host, agent)) == 2

    found = use(host, agent, "recall", {"query": "Which food may I serve without peanuts?", "limit": 1}, **ann)
    assert found.endswith("The user is allergic to peanuts.")
    assert use(host, agent, "recall", {}, **sender("18", "Sam")) == "You remember nothing here yet."
    other_agent = agent_with(host, PERSON)
    assert use(host, other_agent, "recall", {}, **ann) == "You remember nothing here yet."


def test_an_agent_without_a_policy_has_no_tool_of_the_memory(host: ScriptedModelsHost) -> None:
    agent = host.local(resource_policy={"tools": "*"})
    host.write("Hello.")
    host.ask(agent, "Hello")
    assert not {tool["name"] for tool in host.requests()[0]["tools"]} & {"memory.remember", "memory.recall"}


def test_forgotten_facts_are_gone_and_those_of_others_stay(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, PERSON)
    use(host, agent, "remember", {"text": "The user plays the cello."}, **sender("1"))
    use(host, agent, "remember", {"text": "The user plays the oboe."}, **sender("2"))
    ids = {each["text"]: each["memory_id"] for each in host.items("/memories", agent_id=agent)}
    both = {"memory_ids": list(ids.values())}
    assert use(host, agent, "forget", both, **sender("1")) == "Forgotten: 1."
    assert remembered(host, agent) == ["The user plays the oboe."]
    entries = [each for each in host.items("/audit") if each["action"] == "memory.forget"]
    assert entries[0]["resource"] == ids["The user plays the cello."]
    assert "cello" not in str(host.items("/audit"))


def test_the_memory_of_a_person_is_limited(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, {**PERSON, "max_entries": 1, "retention_days": 30})
    use(host, agent, "remember", {"text": "One."}, **sender("1"))
    assert "holds 1 sentences" in use(host, agent, "remember", {"text": "Two."}, **sender("1"))
    assert use(host, agent, "remember", {"text": "one."}, **sender("1")).startswith("Remembered")
    assert use(host, agent, "remember", {"text": "Two."}, **sender("2")).startswith("Remembered")
    [first, _] = host.items("/memories", agent_id=agent)
    assert 29 < (first["expires_at"] - first["created_at"]) / 86_400_000 < 31


def test_nothing_is_remembered_without_consent(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, {"scope": "person"})
    assert "/memory on" in use(host, agent, "remember", {"text": "Secret."})
    assert remembered(host, agent) == []


def test_a_rerun_remembers_nothing(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, PERSON)
    host.write("Hello.")
    run_id = host.ask(agent, "Hello", **sender("1"))["run"]["run_id"]
    host.write(calls(("memory.remember", {"text": "Something."})), "Done.")
    made = host.http().post(f"/runs/{run_id}/rerun", json={})
    assert made.status_code in (201, 202), made.text
    host.until("model", 2)
    assert remembered(host, agent) == []


def test_operators_edit_and_delete_what_is_remembered(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, PERSON)
    use(host, agent, "remember", {"text": "The user likes tea."}, **sender("31"))
    use(host, agent, "remember", {"text": "The user likes rain."}, **sender("31"))
    [second, first] = sorted(host.items("/memories", agent_id=agent), key=lambda each: each["text"])
    path = f"/memories/{first['memory_id']}"
    changed = host.http().patch(path, json={"text": "The user likes green tea."})
    assert (changed.status_code, changed.json()["origin"]) == (200, "operator")
    assert "green tea" in use(host, agent, "recall", {"query": "tea", "limit": 1}, **sender("31"))
    assert host.http().delete(f"/memories/{second['memory_id']}").status_code == 204
    assert remembered(host, agent) == ["The user likes green tea."]
    assert host.http(host.key("viewer")).patch(path, json={"text": "x"}).status_code == 403

    owner = {"owner_type": first["owner_type"], "owner_id": first["owner_id"]}
    assert [each["text"] for each in host.items("/memories", **owner)] == ["The user likes green tea."]
    assert host.http().delete("/memories", params=owner).status_code == 204
    assert host.items("/memories", **owner) == []
    assert error_code(host.http().delete(path)) == "not_found"


def test_memories_are_deleted_with_their_conversation_and_agent(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, {"scope": "chat", "consent": False})
    use(host, agent, "remember", {"text": "This chat is about boats."}, conversation_id="boats")
    assert "boats" in use(host, agent, "recall", {}, conversation_id="boats", **sender("9"))
    assert "nothing" in use(host, agent, "recall", {}, conversation_id="trains")
    [kept] = host.items("/memories", agent_id=agent)
    assert host.http().delete(f"/conversations/{kept['conversation_id']}").status_code == 204
    assert remembered(host, agent) == []

    use(host, agent, "remember", {"text": "This chat is about trains."}, conversation_id="trains")
    assert host.http().delete(f"/agents/{agent}").status_code == 204
    assert remembered(host, agent) == []


def test_secrets_of_the_host_are_not_remembered(host: ScriptedModelsHost) -> None:
    agent = agent_with(host, PERSON)
    use(host, agent, "remember", {"text": f"The key is {host.key()}."}, **sender("41"))
    assert host.key() not in str(host.items("/memories", agent_id=agent))

"""Tests that the local agent answers from a knowledge base, cites it, and that the ledger says what it found."""

import sys
from collections.abc import Iterator

import pytest

from tests.support.harness import Json, eventually
from tests.support.scripted_models import LOCAL_PLUGIN, ScriptedModelsHost

from .test_bases import HANDBOOK, finished, new_base, upload


class KnowledgeHost(ScriptedModelsHost):
    """A Host whose knowledge bases are real."""

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "parlour.testing.knowledge_host", *super()._command()[3:]]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedModelsHost]:
    host = KnowledgeHost(tmp_path_factory.mktemp("knowledge host"))
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def base(host: ScriptedModelsHost) -> Json:
    kb_id = new_base(host)
    return finished(host, kb_id, upload(host, kb_id, "handbook.md", HANDBOOK.encode())["file_id"])


def test_an_answer_cites_the_passage_that_the_model_was_given(host: ScriptedModelsHost, base: Json) -> None:
    host.write("Twenty-six days [1].")
    agent = host.local(knowledge_bases=[base["kb_id"]])
    run = host.ask(agent, "How many days of annual leave does the deck crew receive?")["run"]

    [prompt] = host.prompts()
    assert "[1] handbook.md" in prompt[-1][1]
    assert "twenty-six days of annual leave" in prompt[-1][1]
    [message] = [each["message"] for each in host.results(run["run_id"], "message.completed")]
    citation = message["metadata"]["citations"][0]
    assert (citation["number"], citation["file_name"], citation["file_id"]) == (1, "handbook.md", base["file_id"])
    passage = f"/knowledge-bases/{base['kb_id']}/files/{base['file_id']}/chunks/{citation['chunk_id']}"
    assert "twenty-six" in host.http().get(passage).json()["text"]

    [retrieved] = host.results(run["run_id"], "knowledge.retrieved")
    assert retrieved["passages"][0]["chunk_id"] == citation["chunk_id"]
    why = host.http().get(f"/events/{run['run_id']}/why").json()
    assert "handbook.md" in str(why)


def test_a_rule_by_sender_keeps_a_base_from_a_run(host: ScriptedModelsHost, base: Json) -> None:
    host.write("I do not know.")
    agent = host.local(knowledge_bases=[base["kb_id"]])
    policy = {"rules": [{"when": {}, "deny": {"knowledge_bases": [base["kb_id"]]}}]}
    current = host.http().get(f"/agents/{agent}").json()
    body = {name: current[name] for name in ("name", "runner_id", "runner_config")}
    changed = host.http().put(f"/agents/{agent}", json={**body, "resource_policy": policy})
    assert changed.status_code == 200, changed.text
    run = host.ask(agent, "How many days of annual leave does the deck crew receive?")["run"]
    assert host.results(run["run_id"], "knowledge.retrieved") == []


def rerun(host: ScriptedModelsHost, run_id: str) -> list[Json]:
    """Reruns a run and returns what it searched."""
    made = host.http().post(f"/runs/{run_id}/rerun", json={})
    assert made.status_code == 201, made.text
    again = made.json()["run_id"]
    eventually(lambda: host.run(again)["finished_at"], "the rerun is over", 30)
    return [dict(each) for each in host.results(again, "knowledge.retrieved")]


def test_a_rerun_gets_what_was_found_then_or_says_that_it_is_gone(host: ScriptedModelsHost) -> None:
    kb_id = new_base(host)
    file = finished(host, kb_id, upload(host, kb_id, "fares.txt", b"The ferry fare is four euros.")["file_id"])
    agent = host.local(knowledge_bases=[kb_id])
    host.write("Four euros [1].")
    run_id = host.ask(agent, "What is the ferry fare?")["run"]["run_id"]
    [before] = host.results(run_id, "knowledge.retrieved")

    finished(host, kb_id, upload(host, kb_id, "other.txt", b"The ferry fare is nine euros on Sundays.")["file_id"])
    host.write("Four euros [1].")
    [again] = rerun(host, run_id)
    assert (again["as_of"], again["passages"]) == ("original", before["passages"])
    assert "four euros" in host.prompts()[-1][-1][1]
    assert "nine euros" not in host.prompts()[-1][-1][1]

    finished(host, kb_id, upload(host, kb_id, "fares.txt", b"The ferry fare is six euros.", replace=True)["file_id"])
    host.write("Six euros [1].")
    [gone] = rerun(host, run_id)
    assert gone["as_of"] == "gone"
    assert before["passages"][0]["chunk_id"] not in {each["chunk_id"] for each in gone["passages"]}
    assert {each["file_name"] for each in gone["passages"]} == {"fares.txt", "other.txt"}
    assert file["file_id"]

"""Tests that runs and conversations are found by their answers and senders, not only by the question."""

from collections.abc import Iterator

import pytest

from parlour.testing.model_server import ModelServer, Say
from tests.integration.models.test_models import LOCAL_PLUGIN, add_model, add_provider, chat_agent
from tests.support.harness import Host, Json

EXPECTED = {"MARMALADE": [1, 0], "ann lee": [0], "qq-4712": [1], "breakfast": [0], "100%": [1], "absent": []}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("search"))
    host.install(LOCAL_PLUGIN)
    host.start()
    yield host
    host.close()


@pytest.fixture(scope="module")
def answered_runs(host: Host) -> list[Json]:
    """Answers two messages of two users."""
    with ModelServer() as server:
        agent = chat_agent(host, add_model(host, add_provider(host, server)))
        people = [("qq-4711", "Ann Lee", "breakfast?", "marmalade"), ("qq-4712", "Bob", "dinner?", "100% marmalade")]
        made = []
        for actor_id, name, text, answer in people:
            server.will(Say(answer))
            actor = {"actor_id": actor_id, "actor_name": name}
            made.append(host.ask(agent, text, conversation_id=actor_id, actor=actor))
        return made


@pytest.mark.parametrize("limit", [50, 1])
@pytest.mark.parametrize("text", EXPECTED)
def test_a_run_is_found_by_its_answer_its_sender_and_its_question(
    host: Host, answered_runs: list[Json], text: str, limit: int
) -> None:
    found = [run["run_id"] for run in host.items("/runs", q=text, limit=limit)]
    assert found == [answered_runs[index]["run"]["run_id"] for index in EXPECTED[text]]


@pytest.mark.parametrize("limit", [50, 1])
@pytest.mark.parametrize("text", EXPECTED)
def test_a_conversation_is_found_by_its_messages_and_their_senders(
    host: Host, answered_runs: list[Json], text: str, limit: int
) -> None:
    found = [each["conversation_id"] for each in host.items("/conversations", q=text, limit=limit)]
    assert found == [answered_runs[index]["conversation_id"] for index in EXPECTED[text]]

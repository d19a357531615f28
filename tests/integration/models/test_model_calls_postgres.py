"""Tests prompts and answers of models in PostgreSQL: recorded, found, deleted and backed up as with a file."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from parlour.testing.model_server import ModelServer, Say
from parlour.testing.postgres_server import PostgresServer
from tests.support.commands import parlour_here
from tests.support.harness import Host, eventually

from .test_model_calls import invoke_from_plugin, record, started
from .test_models import add_model, add_provider, chat_agent


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="module")
def service() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def postgres_settings(url: str, **more: str) -> dict[str, str]:
    return {"PARLOUR__DATABASE__URL": url, **more}


@pytest.fixture(scope="module")
def url(database: PostgresServer) -> str:
    return database.url(database.create())


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory, url: str) -> Iterator[Host]:
    host = started(tmp_path_factory.mktemp("model-calls"), **postgres_settings(url))
    yield host
    host.close()


@pytest.fixture(scope="module")
def model(host: Host, service: ModelServer) -> str:
    return add_model(host, add_provider(host, service))


def test_a_prompt_with_odd_characters_is_recorded(host: Host, service: ModelServer, model: str) -> None:
    service.will(Say("nul \0 and 中文 🎉"))
    text = "nul \0, mark \x01, 中文 🎉"
    call = record(host, invoke_from_plugin(host, model, messages=[{"role": "user", "content": text}]))
    assert call["request"]["messages"][0]["content"] == text
    assert call["answer"]["text"] == "nul \0 and 中文 🎉"


def test_a_model_call_is_deleted_with_its_conversation(host: Host, model: str) -> None:
    agent = chat_agent(host, model)
    gone = host.ask(agent, "one", conversation_id="gone")
    path = f"/runs/{gone['run']['run_id']}/model-calls/{record(host, gone['run']['run_id'])['call_id']}"
    assert host.http().delete(f"/conversations/{gone['conversation_id']}").status_code == 204
    assert host.http().get(path).status_code == 404


def test_runs_are_found_by_their_answer_and_their_sender(host: Host, service: ModelServer, model: str) -> None:
    service.will(Say("all of the marmalade"))
    actor = {"actor_id": "qq-4711", "actor_name": "Ann Lee"}
    answered = host.ask(chat_agent(host, model), "breakfast?", conversation_id="found", actor=actor)
    for text in ("MARMALADE", "ann lee", "qq-4711", "breakfast"):
        assert [run["run_id"] for run in host.items("/runs", q=text)] == [answered["run"]["run_id"]]
        found = [each["conversation_id"] for each in host.items("/conversations", q=text)]
        assert found == [answered["conversation_id"]]


def test_runs_are_listed_by_exactly_their_sender(host: Host, service: ModelServer, model: str) -> None:
    agent, key = chat_agent(host, model), host.key("platform")
    made = {}
    for actor_id, name in (("470", "Ann"), ("4701", "Ann 470")):
        service.will(Say("hello"))
        actor = {"actor_id": actor_id, "actor_name": name}
        made[actor_id] = host.ask(agent, "hello?", key, conversation_id=actor_id, actor=actor)["run"]["run_id"]
    for actor_id, run_id in made.items():
        assert [run["run_id"] for run in host.items("/runs", actor=actor_id, bot_id="", limit=1)] == [run_id]


@pytest.mark.parametrize(("options", "status"), [((), 200), (("--without-model-calls",), 404)])
@pytest.mark.long
def test_a_backup_contains_model_calls_unless_they_are_left_out(
    host: Host, database: PostgresServer, url: str, model: str, tmp_path: Path, options: tuple[str, ...], status: int
) -> None:
    secret = f"private words {status}"
    run_id = invoke_from_plugin(host, model, messages=[{"role": "user", "content": secret}])
    path = f"/runs/{run_id}/model-calls/{record(host, run_id)['call_id']}"
    made = parlour_here("backup", tmp_path / "one", "--data", host.data, *options, environment=postgres_settings(url))
    assert made.returncode == 0, made.stderr
    elsewhere = postgres_settings(database.url(database.create()))
    brought = parlour_here("restore", tmp_path / "one", "--data", tmp_path / "data", environment=elsewhere)
    assert brought.returncode == 0, brought.stderr

    restored = Host(tmp_path, **elsewhere).start()
    try:
        answer = restored.http().get(path)
        assert answer.status_code == status
        assert (secret in json.dumps(answer.json())) == (status == 200)
    finally:
        restored.close()


def test_a_model_call_is_deleted_after_its_own_retention_while_the_run_stays(
    service: ModelServer, database: PostgresServer, tmp_path: Path
) -> None:
    forgetful = {"MODEL_CALLS_DAYS": "0.00002", "FIRST_SECONDS": "0", "EVERY_HOURS": "0.0001"}
    terms = {f"PARLOUR__RETENTION__{name}": value for name, value in forgetful.items()}
    host = started(tmp_path, **postgres_settings(database.url(database.create()), **terms))
    try:
        run_id = invoke_from_plugin(host, add_model(host, add_provider(host, service)))
        path = f"/runs/{run_id}/model-calls/{record(host, run_id)['call_id']}"
        eventually(lambda: host.http().get(path).status_code == 404, "the record is gone")
        assert host.run(run_id)["status"] == "completed"
    finally:
        host.close()

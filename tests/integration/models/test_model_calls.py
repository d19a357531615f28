"""Tests recorded prompts and answers of models: without secrets, readable with permission only, deleted in time."""

import base64
import json
import sqlite3
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from parlour.testing.model_server import ModelServer, Refuse, Say
from tests.integration.access.test_accounts import PASSWORD, Person, browser, logged_in
from tests.support.chat import Chat
from tests.support.commands import parlour_here
from tests.support.harness import Host, Json, error_code, eventually
from tests.support.scripted import CALLER, CALLING_PLUGIN

from .test_models import LOCAL_PLUGIN, add_model, add_provider, chat_agent

SECRET = "sk-canary-model-calls-77"


@pytest.fixture(scope="module")
def service() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(service: ModelServer) -> ModelServer:
    service.forget()
    return service


def started(folder: Path, **environment: str) -> Host:
    host = Host(folder, **environment)
    host.install(CALLING_PLUGIN)
    host.install(LOCAL_PLUGIN)
    return host.start()


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = started(tmp_path_factory.mktemp("model-calls"))
    yield host
    host.close()


@pytest.fixture(scope="module")
def model(host: Host, service: ModelServer) -> str:
    provider = add_provider(host, service, api_keys=[SECRET])
    return add_model(host, provider, parameters={"temperature": 0.3, "top_p": 0.9})


def model_calls(host: Host, run_id: str) -> list[Json]:
    return [each["data"] for each in host.items(f"/runs/{run_id}/events") if each["type"] == "model.called"]


def record(host: Host, run_id: str, key: str | None = None) -> Json:
    """Returns the record of the run's first model call, which is written a moment after the answer."""
    [call_id, *_] = [each["call_id"] for each in model_calls(host, run_id)]

    def look() -> httpx.Response | None:
        answer = host.http(key).get(f"/runs/{run_id}/model-calls/{call_id}")
        return None if answer.status_code == 404 else answer

    answer = eventually(look, "the call is recorded")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def invoke_from_plugin(host: Host, model: str, **arguments: Any) -> str:
    """Returns the run of a plugin that made this model call."""
    agent = host.agent(CALLER, resource_policy={"models": [model]})
    arguments.setdefault("messages", [{"role": "user", "content": "hi"}])
    return str(host.ask(agent, json.dumps([["invoke_llm", {"model_id": model, **arguments}]]))["run"]["run_id"])


def rows(host: Host) -> set[str]:
    """Returns the ids of runs that have a model call in the database."""
    database = sqlite3.connect(f"file:{host.data}/parlour.db?mode=ro", uri=True)
    try:
        return {run_id for (run_id,) in database.execute("SELECT run_id FROM model_calls")}
    finally:
        database.close()


def test_the_record_of_a_streamed_call_has_prompt_parameters_and_answer(
    host: Host, server: ModelServer, model: str
) -> None:
    server.will(Say("forty two", reasoning="let me think"))
    run_id = host.ask(chat_agent(host, model), "the question")["run"]["run_id"]

    call = record(host, run_id)

    assert call["request"]["messages"][-1]["role"] == "user"
    assert "the question" in json.dumps(call["request"]["messages"][-1])
    assert call["request"]["parameters"] | {"temperature": 0.3, "top_p": 0.9} == call["request"]["parameters"]
    assert (call["answer"]["text"].strip(), call["answer"]["reasoning"].strip()) == ("forty two", "let me think")
    assert (call["answer"]["finish_reason"], call["outcome"], call["model_id"]) == ("stop", "answered", model)
    assert call["truncated"] is False


def test_parameters_of_the_caller_win_over_those_of_the_model(host: Host, server: ModelServer, model: str) -> None:
    tools = [{"name": "look", "description": "Looks", "parameters_schema": {"type": "object"}}]
    call = record(host, invoke_from_plugin(host, model, extra={"temperature": 1}, tools=tools))
    assert call["request"]["parameters"] == {"temperature": 1, "top_p": 0.9}
    assert [tool["name"] for tool in call["request"]["tools"]] == ["look"]
    assert call["answer"]["text"] == "pong"


def test_the_record_of_a_refused_call_has_its_error(host: Host, server: ModelServer, model: str) -> None:
    server.will(Refuse(400, "no such parameter"))
    call = record(host, invoke_from_plugin(host, model))
    assert call["outcome"] != "answered"
    assert "no such parameter" in call["answer"]["error"]


def test_the_start_of_a_call_is_on_the_clock_of_its_run(host: Host, server: ModelServer, model: str) -> None:
    server.will(Say("slow answer here", gap=0.05))
    run_id = host.ask(chat_agent(host, model), "hello")["run"]["run_id"]
    run, [call] = host.run(run_id), model_calls(host, run_id)
    assert run["started_at"] <= call["started_at"]
    assert call["started_at"] + call["milliseconds"] <= run["finished_at"]


def test_secrets_are_not_in_the_record(host: Host, server: ModelServer, model: str) -> None:
    other = "ghp_" + "a1B2" * 9
    server.will(Say(f"it is {SECRET}"))
    messages = [{"role": "user", "content": f"{SECRET} and {other}"}]
    run_id = invoke_from_plugin(host, model, messages=messages, extra={"user": other})
    call = json.dumps(record(host, run_id))
    assert SECRET not in call
    assert other not in call
    assert call.count("[redacted]") >= 4


def test_a_secret_at_the_cut_of_a_long_text_is_removed_completely(host: Host, server: ModelServer, model: str) -> None:
    long = "x " * (16 * 1024 - 5) + SECRET + " y" * 16 * 1024
    call = json.dumps(record(host, invoke_from_plugin(host, model, messages=[{"role": "user", "content": long}])))
    assert SECRET[:6] not in call


def test_a_long_prompt_is_cut_and_marked_as_cut(host: Host, server: ModelServer, model: str) -> None:
    messages = [{"role": "system", "content": "be kind"}]
    messages += [{"role": "user", "content": f"{number} " + "word " * 6000} for number in range(12)]
    call = record(host, invoke_from_plugin(host, model, messages=messages))
    shown = call["request"]["messages"]
    assert call["truncated"] is True
    assert len(json.dumps(call)) < 200_000
    assert shown[0]["content"] == "be kind"
    assert "messages left out" in shown[1]["content"]
    assert shown[-1]["content"].startswith("11 word")


def test_media_are_replaced_by_a_note(host: Host, server: ModelServer, model: str) -> None:
    picture = base64.b64encode(b"\x89PNG" + bytes(range(256)) * 20).decode()
    elements = [
        {"type": "text", "text": f"look: data:image/jpeg;base64,{picture}"},
        {"type": "image", "mime_type": "image/png", "content_base64": picture},
    ]
    call = record(host, invoke_from_plugin(host, model, messages=[{"role": "user", "content": elements}]))
    text, image = call["request"]["messages"][0]["content"]
    assert "image/jpeg: " in text["text"]
    assert image["content_base64"] == "[image/png: 5,124 bytes left out]"
    assert picture[:40] not in json.dumps(call)


def test_only_admins_read_model_calls_unless_the_setting_allows_operators(
    host: Host, server: ModelServer, model: str, tmp_path: Path
) -> None:
    run_id = invoke_from_plugin(host, model)
    path = f"/runs/{run_id}/model-calls/{record(host, run_id)['call_id']}"
    refused = {scope: host.http(host.key(scope)).get(path) for scope in ("operator", "viewer", "chat", "platform")}
    assert {answer.status_code for answer in refused.values()} == {403}
    assert {error_code(answer) for answer in refused.values()} == {"forbidden"}

    open_host = started(tmp_path, PARLOUR__MODEL_CALLS__VISIBLE_TO="operator")
    try:
        run_id = invoke_from_plugin(open_host, add_model(open_host, add_provider(open_host, server)))
        assert record(open_host, run_id, open_host.key("operator"))["answer"]["text"] == "pong"
        call_id = model_calls(open_host, run_id)[0]["call_id"]
        viewer = open_host.http(open_host.key("viewer")).get(f"/runs/{run_id}/model-calls/{call_id}")
        assert viewer.status_code == 403
    finally:
        open_host.close()


def test_a_call_is_found_only_under_its_own_run(host: Host, server: ModelServer, model: str) -> None:
    one, other = invoke_from_plugin(host, model), invoke_from_plugin(host, model)
    answer = host.http().get(f"/runs/{other}/model-calls/{record(host, one)['call_id']}")
    assert (answer.status_code, error_code(answer)) == (404, "not_found")
    assert "retention.model_calls_days" in answer.text


def test_a_model_call_is_deleted_with_its_conversation(host: Host, server: ModelServer, model: str) -> None:
    agent = chat_agent(host, model)
    gone, stays = host.ask(agent, "one", conversation_id="gone"), host.ask(agent, "two", conversation_id="stays")
    # this is done at once, while the record of the call may still wait to be written
    assert host.http().delete(f"/conversations/{gone['conversation_id']}").status_code == 204
    record(host, stays["run"]["run_id"])
    assert gone["run"]["run_id"] not in rows(host)
    assert stays["run"]["run_id"] in rows(host)


async def test_a_model_call_is_deleted_with_its_user(host: Host, server: ModelServer, model: str) -> None:
    owner = first_owner(host)
    body = {"email": "eve@example.org", "password": PASSWORD, "name": "Eve", "role": "operator"}
    user_id = owner.http.post("/users", json=body, headers=owner.token).json()["user_id"]
    eve = logged_in(host, "eve@example.org")
    cookies = "; ".join(f"{name}={value}" for name, value in eve.http.cookies.items())
    headers = {"Cookie": cookies, "Origin": host.address}
    async with Chat(host, chat_agent(host, model), headers=headers) as chat:
        await chat.say("hello from eve")
        run_id = str((await chat.until("run", status="completed"))["run_id"])
    assert record(host, run_id)["answer"]["text"] == "pong"

    assert owner.http.delete(f"/users/{user_id}", headers=owner.token).status_code == 204

    assert run_id not in rows(host)


def first_owner(host: Host) -> Person:
    http = browser(host)
    answer = http.post("/auth/setup", json={"email": "ada@example.org", "password": PASSWORD, "name": "Ada"})
    assert answer.status_code == 201, answer.text
    return Person(http, answer.json())


@pytest.mark.parametrize(("options", "kept"), [((), True), (("--without-model-calls",), False)])
def test_a_backup_leaves_out_model_calls_on_request(
    host: Host, server: ModelServer, model: str, tmp_path: Path, options: tuple[str, ...], kept: bool
) -> None:
    run_id = invoke_from_plugin(host, model)
    record(host, run_id)
    made = parlour_here("backup", tmp_path / "one.backup", "--data", host.data, *options)
    assert made.returncode == 0, made.stderr
    with tarfile.open(tmp_path / "one.backup") as archive:
        content = archive.extractfile("parlour.db")
        assert content is not None
        (tmp_path / "parlour.db").write_bytes(content.read())
    database = sqlite3.connect(tmp_path / "parlour.db")
    found = database.execute("SELECT count(*) FROM model_calls WHERE run_id = ?", (run_id,)).fetchone()
    database.close()
    assert found == (int(kept),)


def test_no_model_call_is_recorded_when_recording_is_switched_off(server: ModelServer, tmp_path: Path) -> None:
    host = started(tmp_path, PARLOUR__MODEL_CALLS__RECORD="false")
    try:
        run_id = invoke_from_plugin(host, add_model(host, add_provider(host, server)))
        assert "call_id" not in model_calls(host, run_id)[0]
        host.stop()
        assert rows(host) == set()
    finally:
        host.close()


def test_a_model_call_is_deleted_after_its_own_retention_while_the_run_stays(
    server: ModelServer, tmp_path: Path
) -> None:
    forgetful = {"MODEL_CALLS_DAYS": "0.00002", "FIRST_SECONDS": "0", "EVERY_HOURS": "0.0001"}
    host = started(tmp_path, **{f"PARLOUR__RETENTION__{name}": value for name, value in forgetful.items()})
    try:
        run_id = invoke_from_plugin(host, add_model(host, add_provider(host, server)))
        record(host, run_id)
        eventually(lambda: run_id not in rows(host), "the record is gone")
        assert model_calls(host, run_id)[0]["outcome"] == "answered"
    finally:
        host.close()

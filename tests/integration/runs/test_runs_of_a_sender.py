"""Tests that `GET /runs?actor=` lists exactly one sender's runs, also if names are similar or ids equal elsewhere."""

from collections.abc import Iterator

import pytest

from tests.support.harness import Host, named_fields
from tests.support.onebot import free_port

ANN = {"actor_id": "470", "actor_name": "Ann"}
ANNA = {"actor_id": "4701", "actor_name": "Anna 470"}


@pytest.fixture
def bot_id(host: Host) -> Iterator[str]:
    """Creates a bot that no platform is connected to; its agent answers."""
    adapter = {"adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": free_port()}}
    made = str(host.http().post("/bots", json={"name": "quiet", **adapter}).json()["bot_id"])
    route = {"event_type": "*", "handler_type": "agent", "handler_config": {"agent_id": host.agent()}}
    assert host.http().put(f"/bots/{made}/routes", json=[route]).status_code == 200
    yield made
    host.http().delete(f"/bots/{made}")


def runs_of(host: Host, **filters: object) -> list[str]:
    return [run["run_id"] for run in host.items("/runs", **filters)]


@pytest.mark.parametrize("limit", [50, 1])
def test_only_the_runs_of_that_sender_are_listed_newest_first(host: Host, limit: int) -> None:
    agent, key = host.agent(), host.key("platform")
    anns, annas = ([], [])
    for text in ("first", "second 470"):
        anns.insert(0, host.ask(agent, text, key, actor=ANN, conversation_id="ann")["run"]["run_id"])
        annas.insert(0, host.ask(agent, text, key, actor=ANNA, conversation_id="anna")["run"]["run_id"])

    assert runs_of(host, agent_id=agent, actor="470", limit=limit) == anns
    assert runs_of(host, agent_id=agent, actor="4701", limit=limit) == annas
    assert runs_of(host, agent_id=agent, actor="Ann", limit=limit) == [], "a name is no id"
    assert runs_of(host, agent_id=agent, actor="470", q="second", limit=limit) == anns[:1]
    assert runs_of(host, agent_id=agent, actor="470", status="failed") == []


def test_runs_of_two_senders_with_the_same_id_are_distinguished_by_their_bot(host: Host, bot_id: str) -> None:
    agent, key = host.agent(), host.key("platform")
    actor = {**ANN, "actor_id": f"same-{bot_id}"}
    direct = host.ask(agent, "not by a bot", key, actor=actor)["run"]["run_id"]
    body = {"bot_id": bot_id, "input": {"text": "by a bot"}, "actor": actor}
    by_bot = (
        host.http(key)
        .post("/events?wait=result", json={**body, "data": {"chat_type": "private", "chat_id": "8"}})
        .json()["run"]["run_id"]
    )

    assert runs_of(host, actor=actor["actor_id"]) == [by_bot, direct]
    assert runs_of(host, actor=actor["actor_id"], bot_id=bot_id) == [by_bot]
    assert runs_of(host, actor=actor["actor_id"], bot_id="") == [direct]


def test_an_empty_sender_is_refused_and_a_cursor_belongs_to_one_sender(host: Host) -> None:
    agent, key = host.agent(), host.key("platform")
    for actor in (ANN, ANN, ANNA, ANNA):
        host.ask(agent, "hello", key, actor=actor)
    refused = host.http().get("/runs", params={"actor": ""})
    assert (refused.status_code, named_fields(refused)) == (422, ["query.actor"])

    cursor = host.http().get("/runs", params={"actor": "470", "limit": 1}).json()["next_cursor"]
    assert host.http().get("/runs", params={"actor": "470", "limit": 1, "cursor": cursor}).status_code == 200
    assert host.http().get("/runs", params={"actor": "4701", "limit": 1, "cursor": cursor}).status_code == 400

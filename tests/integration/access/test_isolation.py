"""Tests that two keys never see each other's records: not by name, not by id, not in a list."""

import pytest

from tests.support.harness import ECHO, Host, Json, error_code, texts

pytestmark = pytest.mark.both_runtimes


@pytest.fixture(scope="module")
def agent(host: Host) -> str:
    return host.agent(ECHO)


@pytest.fixture(scope="module")
def ann(host: Host) -> str:
    return host.key("chat", "ann")


@pytest.fixture(scope="module")
def bob(host: Host) -> str:
    return host.key("chat", "bob")


@pytest.fixture(scope="module")
def results(host: Host, agent: str, ann: str, bob: str) -> tuple[Json, Json]:
    """Sends messages of both keys with the same event id in a conversation of the same name."""
    names = {"event_id": "same", "conversation_id": "same"}
    return host.ask(agent, "by ann", ann, **names), host.ask(agent, "by bob", bob, **names)


def test_the_same_event_id_of_two_keys_is_two_events(results: tuple[Json, Json]) -> None:
    of_ann, of_bob = results

    assert (texts(of_ann), texts(of_bob)) == (["by ann"], ["by bob"])
    assert of_ann["run"]["run_id"] != of_bob["run"]["run_id"]


def test_the_same_conversation_name_of_two_keys_is_two_conversations(host: Host, results: tuple[Json, Json]) -> None:
    of_ann, of_bob = results

    assert of_ann["conversation_id"] != of_bob["conversation_id"]
    assert host.transcript(of_ann["conversation_id"]) == [("user", "by ann"), ("assistant", "by ann")]
    assert host.transcript(of_bob["conversation_id"]) == [("user", "by bob"), ("assistant", "by bob")]


def test_the_same_session_name_of_two_keys_is_two_chats(host: Host, agent: str, results: tuple[Json, Json]) -> None:
    for key in (host.key("chat", "ann"), host.key("chat", "bob")):
        answer = host.http(key).get(f"/agents/{agent}/chat/same/messages")

        assert answer.json()["items"] == [], "the web chat is another source than the API"


def test_one_conversation_name_with_two_agents_is_two_conversations(host: Host, agent: str, ann: str) -> None:
    other = host.agent()

    first = host.ask(agent, "to the first", ann, conversation_id="shared name")
    second = host.ask(other, "to the second", ann, conversation_id="shared name")

    assert first["conversation_id"] != second["conversation_id"]


@pytest.mark.parametrize("path", ["/runs/{run}", "/runs/{run}/events", "/conversations/{conversation}/transcript"])
def test_a_chat_key_reads_its_own_records_and_gets_not_found_for_a_foreign_id(
    host: Host, results: tuple[Json, Json], ann: str, bob: str, path: str
) -> None:
    of_ann, _ = results
    own = path.format(run=of_ann["run"]["run_id"], conversation=of_ann["conversation_id"])

    assert host.http(ann).get(own).status_code == 200
    foreign = host.http(bob).get(own)
    absent = host.http(bob).get(path.format(run="none", conversation="none"))
    assert (foreign.status_code, error_code(foreign)) == (404, "not_found")
    assert foreign.json()["error"]["code"] == absent.json()["error"]["code"]


def test_a_chat_key_can_not_cancel_a_foreign_run(host: Host, ann: str, bob: str) -> None:
    agent = host.agent(config={"hold_ms": 60_000})
    host.send(agent, "hold on", ann)
    run_id = host.active_run(agent)

    assert host.http(bob).post(f"/runs/{run_id}/cancel").status_code == 404
    assert host.run(run_id)["status"] == "running"
    assert host.http(ann).post(f"/runs/{run_id}/cancel").status_code == 200


@pytest.mark.parametrize("path", ["/conversations", "/events"])
def test_a_chat_key_lists_only_its_own_records(
    host: Host, results: tuple[Json, Json], ann: str, bob: str, path: str
) -> None:
    of_ann, of_bob = results

    seen_by_ann = {item["conversation_id"] for item in host.items(path, ann)}
    seen_by_bob = {item["conversation_id"] for item in host.items(path, bob)}

    assert of_ann["conversation_id"] in seen_by_ann
    assert of_bob["conversation_id"] in seen_by_bob
    assert not seen_by_ann & seen_by_bob


def test_a_chat_key_gets_no_foreign_events_by_naming_their_conversation(
    host: Host, results: tuple[Json, Json], bob: str
) -> None:
    assert host.items("/events", bob, conversation_id=results[0]["conversation_id"]) == []


def test_a_conversation_of_another_key_can_not_be_entered_by_its_id(
    host: Host, agent: str, results: tuple[Json, Json], bob: str
) -> None:
    of_ann = results[0]["conversation_id"]

    assert host.ask(agent, "let me in", bob, conversation_id=of_ann)["conversation_id"] != of_ann
    assert len(host.transcript(of_ann)) == 2

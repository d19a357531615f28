"""Tests the data of the page: runs with their subject, sessions, messages of other tabs, routes
before they are saved.
"""

from collections.abc import Iterator

import pytest

from tests.support.chat import Chat
from tests.support.harness import Host, Json, error_code, named_fields
from tests.support.onebot import free_port


def listed(host: Host, **filters: object) -> list[str]:
    return [run["run_id"] for run in host.items("/runs", **filters)]


def test_a_run_in_a_list_has_input_agent_and_sender(host: Host) -> None:
    agent = host.agent(name="storyteller")
    run_id = host.ask(agent, "tell me of the sea")["run"]["run_id"]

    [row] = host.items("/runs", agent_id=agent)

    summary = {name: row[name] for name in ("run_id", "agent_name", "event_type", "input_summary", "status")}
    assert summary == {
        "run_id": run_id,
        "agent_name": "storyteller",
        "event_type": "message.received",
        "input_summary": "tell me of the sea",
        "status": "completed",
    }


def test_runs_are_found_by_their_text_their_time_and_their_status(host: Host) -> None:
    agent = host.agent()
    texts = ["an APPLE a day", "100% of a pear", "another apple"]
    runs = [host.ask(agent, text)["run"] for text in texts]
    ids = [run["run_id"] for run in runs]

    assert listed(host, agent_id=agent, q="apple") == [ids[2], ids[0]]
    assert listed(host, agent_id=agent, q="apple", limit=1) == [ids[2], ids[0]], "page by page"
    assert listed(host, agent_id=agent, q="100%") == [ids[1]]
    assert listed(host, agent_id=agent, q="plum") == []
    assert listed(host, agent_id=agent, since=runs[2]["created_at"], limit=1000)[0] == ids[2]
    assert ids[0] not in listed(host, agent_id=agent, since=runs[0]["created_at"] + 1)
    assert listed(host, agent_id=agent, until=runs[0]["created_at"])[-1] == ids[0]
    assert listed(host, agent_id=agent, status="failed") == []
    refused = host.http().get("/runs", params={"status": "nonsense", "limit": 1001})
    assert (refused.status_code, named_fields(refused)) == (422, ["query.status", "query.limit"])


def test_a_chat_key_finds_only_its_own_conversations(host: Host) -> None:
    agent, key = host.agent(), host.key("chat")
    host.ask(agent, "kumquat of somebody else")
    own = host.ask(agent, "kumquat of mine", key)["conversation_id"]
    assert [each["conversation_id"] for each in host.items("/conversations", key, q="kumquat")] == [own]


def test_a_cursor_belongs_to_its_own_list(host: Host) -> None:
    agent = host.agent()
    for text in ("one", "two"):
        host.ask(agent, text)
    cursor = host.http().get("/runs", params={"agent_id": agent, "limit": 1}).json()["next_cursor"]

    other = host.http().get("/runs", params={"limit": 1, "cursor": cursor})

    assert (other.status_code, error_code(other)) == (400, "invalid_argument")


def test_a_run_has_its_event_and_its_deliveries(host: Host) -> None:
    result = host.ask(host.agent(), "hello there")

    run = host.run(result["run"]["run_id"])

    assert (run["event"]["event_id"], run["event"]["input_summary"]) == (result["event_id"], "hello there")
    [delivery] = run["deliveries"]
    assert {name: delivery[name] for name in ("kind", "surface", "state", "text")} == {
        "kind": "message",
        "surface": "api",
        "state": "sent",
        "text": "hello there",
    }
    assert host.items(f"/runs/{run['run_id']}/deliveries") == [delivery]
    assert run["denials"] == []
    foreign = host.http(host.key("chat", "another")).get(f"/runs/{run['run_id']}/deliveries")
    assert foreign.status_code == 404


async def test_sessions_are_listed_with_their_first_message_the_last_used_first(host: Host) -> None:
    agent, key = host.agent(), host.key("chat", "talker")
    for session, text in (("monday", "good morning"), ("tuesday", "good evening"), ("monday", "again")):
        async with Chat(host, agent, session, key) as chat:
            await chat.answer(text)

    sessions = host.items(f"/agents/{agent}/chat/sessions", key, limit=1)

    assert [(each["session"], each["title"], each["items"]) for each in sessions] == [
        ("monday", "good morning", 4),
        ("tuesday", "good evening", 2),
    ]
    assert host.items(f"/agents/{agent}/chat/sessions", host.key("chat", "somebody else")) == []


async def test_a_transcript_is_read_from_its_end(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "long") as chat:
        for text in ("one", "two"):
            await chat.answer(text)

    items = host.items(f"/agents/{agent}/chat/long/messages", order="newest", limit=3)

    assert [item["content"] for item in items] == ["two", "two", "one", "one"]
    assert [item["seq"] for item in items] == [4, 3, 2, 1]


async def test_another_tab_receives_the_users_message(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "tabs", said=True) as one, Chat(host, agent, "tabs", said=True) as two:
        await one.say("hello there", id="first")
        accepted = await one.until("accepted")
        frames = [await each.until("said") for each in (one, two)]
        await two.until("run", status="completed")

    for frame in frames:
        assert (frame["text"], frame["id"], frame["event_id"]) == ("hello there", "first", accepted["event_id"])
    assert [frame["type"] for frame in two.frames if frame["type"] in ("said", "message")] == ["said", "message"]


async def test_a_client_without_the_option_receives_no_frames_with_user_messages(host: Host) -> None:
    agent = host.agent()
    async with Chat(host, agent, "plain") as one, Chat(host, agent, "plain") as two:
        await one.answer("hello there")
        await two.until("run", status="completed")

    assert "said" not in {frame["type"] for frame in one.frames + two.frames}


@pytest.fixture(scope="module")
def bot_id(host: Host) -> Iterator[str]:
    config = {"mode": "reverse", "port": free_port()}
    body = {"name": "asleep", "adapter": "onebot11", "adapter_config": config, "enabled": False}
    made = host.http().post("/bots", json=body)
    assert made.status_code == 201, made.text
    yield made.json()["bot_id"]
    assert host.http().delete(f"/bots/{made.json()['bot_id']}").status_code == 204


def dry_run(host: Host, bot_id: str, **body: object) -> Json:
    event = {"type": "message.received", "text": "hello", "sender": {"id": "7"}}
    answer = host.http().post(f"/bots/{bot_id}/routes/dry-run", json={"event": event, **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_unsaved_routes_can_be_tested_with_a_dry_run(host: Host, bot_id: str) -> None:
    saved = host.http().get(f"/bots/{bot_id}/routes").json()
    drop = {"event_type": "message.*", "handler_type": "drop", "filters": {"text_prefix": "hell"}}
    other = {"event_type": "message.received", "handler_type": "drop", "filters": {"text_prefix": "bye"}}

    matched = dry_run(host, bot_id, routes=[drop, other])

    assert (matched["index"], matched["handler_type"], matched["route"]["event_type"]) == (0, "drop", "message.*")
    assert matched["reasons"][-1] == "nobody answers, on purpose"
    unmatched = dry_run(host, bot_id, routes=[])
    assert (unmatched["index"], unmatched["reasons"]) == (None, ["no plugin listens to it, so nobody answers"])
    assert host.http().get(f"/bots/{bot_id}/routes").json() == saved


def test_an_invalid_route_is_refused_in_a_dry_run(host: Host, bot_id: str) -> None:
    route = {"handler_type": "agent", "handler_config": {"agent_id": "nobody"}}

    answer = host.http().post(f"/bots/{bot_id}/routes/dry-run", json={"event": {}, "routes": [route]})

    assert (answer.status_code, named_fields(answer)) == (422, ["0.handler_config.agent_id"])

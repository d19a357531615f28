"""Tests default agents through a real Host and a real WebSocket: which agent answers where, why,
and what is refused.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from parlour.core.config.bots import Bot
from parlour.core.model.agent import Agent
from tests.integration.conftest import MakeHost
from tests.support.harness import ECHO, Host, error_code, eventually, named_fields
from tests.support.onebot import SELF, Peer, free_port

Json = dict[str, Any]
GROUP = 5
CHAT = f"{SELF}/group:{GROUP}"


class Talk:
    """Represents a bot, its peer, and an agent for each scope."""

    def __init__(self, host: Host) -> None:
        self.host = host
        port = free_port()
        body = {"name": "tester", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": port}}
        made = host.http().post("/bots", json=body)
        assert made.status_code == 201, made.text
        self.bot_id = str(made.json()["bot_id"])
        self.agents = {name: host.agent(ECHO, f"of {name}") for name in ("bot", "near", "far")}
        self.route("agent", {"agent_id": self.agents["bot"]})
        self.peer = Peer(port)

    def route(self, handler: str, config: Json, **filters: Any) -> None:
        route = {"event_type": "*", "handler_type": handler, "handler_config": config, "filters": filters}
        assert self.host.http().put(f"/bots/{self.bot_id}/routes", json=[route]).status_code == 200

    def put(self, agent: str, scope: str, **fields: Any) -> httpx.Response:
        body = {"scope": scope, "agent_id": self.agents.get(agent, agent), **fields}
        return self.host.http().put("/default-agents", json=body)

    def set(self, agent: str, scope: str, **fields: Any) -> Json:
        answer = self.put(agent, scope, **fields)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def this_chat(self) -> Json:
        return {"bot_id": self.bot_id, "chat": CHAT}

    def clear(self) -> None:
        for each in self.host.items("/default-agents"):
            assert self.host.http().delete(f"/default-agents/{each['default_id']}").status_code == 204

    def answered(self, text: str, **fields: Any) -> tuple[str, str]:
        """Sends a text in the group and returns the agent that answered it and the reason."""
        self.peer.say(text, group=GROUP, mention=True, **fields)
        assert self.peer.next_send() == (f"group {GROUP}", text)
        return self.served(text)

    def served(self, text: str) -> tuple[str, str]:
        why = self.why(text)
        names = {agent_id: name for name, agent_id in self.agents.items()}
        [began] = [step for step in why if step["step"] == "run"]
        name = names[began["data"]["agent_id"]]
        assert f"agent 'of {name}'" in began["text"]
        return name, began["text"]

    def why(self, text: str) -> list[Json]:
        events = self.host.items("/events", bot_id=self.bot_id)
        event = next(each for each in events if each["input_summary"] == text)
        answer = self.host.http().get(f"/events/{event['event_id']}/why")
        assert answer.status_code == 200, answer.text
        return list(answer.json()["steps"])

    def last_step(self, text: str) -> Json:
        """Returns the last step of the trail of a text that was not answered."""

        def looked() -> list[Json]:
            known = [each["input_summary"] for each in self.host.items("/events", bot_id=self.bot_id)]
            return [step for step in self.why(text) if step["step"] == "settled"] if text in known else []

        return eventually(looked, f"'{text}' is settled")[0]

    def tried(self, **fields: Any) -> Json:
        room = {"chat_type": "group", "chat_id": str(GROUP), "account": str(SELF), "mentions_bot": True}
        event = {"type": "message.received", "sender": {"id": "7"}, **room, **fields}
        answer = self.host.http().post(f"/bots/{self.bot_id}/routes/dry-run", json={"event": event})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest.fixture(scope="module")
def made(host: Host) -> Iterator[Talk]:
    talk = Talk(host)
    yield talk
    talk.peer.close()
    assert host.http().delete(f"/bots/{talk.bot_id}").status_code == 204
    for agent_id in talk.agents.values():
        assert host.http().delete(f"/agents/{agent_id}").status_code == 204


@pytest.fixture
def talk(made: Talk) -> Iterator[Talk]:
    yield made
    made.clear()
    made.route("agent", {"agent_id": made.agents["bot"]})


def test_a_group_is_answered_by_its_own_agent_and_other_chats_by_the_routes_agent(talk: Talk) -> None:
    assert talk.answered("before")[0] == "bot"
    talk.set("near", "conversation", **talk.this_chat())
    who, began = talk.answered("now")
    assert who == "near"
    assert f"by the default agent of conversation {CHAT}, which goes before route '*'" in began
    talk.peer.say("in private", user=7)
    assert talk.peer.next_send() == ("private 7", "in private")
    assert talk.served("in private")[0] == "bot"
    talk.clear()
    assert talk.answered("afterwards")[0] == "bot"


def test_the_default_of_a_user_wins_over_the_route_and_that_of_a_channel_over_both(talk: Talk) -> None:
    talk.set("far", "actor", platform="onebot11", actor_id="8")
    assert talk.answered("from eight", user=8)[0] == "far"
    assert talk.answered("from nine", user=9)[0] == "bot"
    talk.set("near", "channel", platform="onebot11", chat=f"group:{GROUP}")
    assert talk.answered("from eight again", user=8)[0] == "near"


def test_the_default_of_a_thread_wins_over_that_of_its_conversation(talk: Talk) -> None:
    talk.set("far", "conversation", **talk.this_chat())
    talk.set("near", "thread", **talk.this_chat(), thread_id="topic")
    data = {"chat_type": "group", "chat_id": str(GROUP), "account": str(SELF)}
    for thread, who in (("topic", "near"), ("another", "far")):
        body = {"bot_id": talk.bot_id, "thread_id": thread, "input": {"text": f"in {thread}"}, "data": data}
        sent = talk.host.http(talk.host.key("platform")).post("/events?wait=result", json=body)
        assert sent.status_code == 200, sent.text
        assert talk.peer.next_send() == (f"group {GROUP}", f"in {thread}")
        assert talk.served(f"in {thread}")[0] == who


def test_the_workspaces_agent_answers_messages_that_address_a_bot_without_a_route(talk: Talk) -> None:
    talk.route("drop", {}, text_prefix="#")
    talk.set("far", "workspace")
    who, began = talk.answered("anybody?")
    assert who == "far"
    assert "by the default agent of the workspace, since no route takes message.received" in began
    talk.peer.say("among ourselves", group=GROUP)
    assert "leaves it: the bot is not addressed" in talk.last_step("among ourselves")["text"]
    talk.peer.say("# a note", group=GROUP, mention=True)
    assert "drops it" in talk.last_step("# a note")["text"]


def test_a_disabled_default_agent_is_an_error_on_the_trail(talk: Talk) -> None:
    talk.agents["off"] = talk.host.agent(ECHO, "switched off", enabled=False)
    assert not talk.set("off", "conversation", **talk.this_chat())["agent_enabled"]
    talk.peer.say("is it on?", user=11, group=GROUP)
    last_step = talk.last_step("is it on?")
    assert last_step["data"]["outcome"] == "misconfigured"
    assert f"the default agent of conversation {CHAT}" in last_step["text"]
    assert "agent 'switched off' is disabled" in last_step["text"]


def test_a_second_default_is_refused_with_both_names_unless_it_names_the_agent_it_replaces(talk: Talk) -> None:
    first = talk.set("near", "conversation", **talk.this_chat())
    assert talk.set("near", "conversation", **talk.this_chat()) == first, "the same again is no second claim"
    refused = talk.put("far", "conversation", **talk.this_chat())
    assert (refused.status_code, error_code(refused)) == (409, "conflict")
    assert "agent 'of far'" in refused.text
    assert "agent 'of near' is that already" in refused.text
    assert talk.put("far", "conversation", **talk.this_chat(), replaces=talk.agents["bot"]).status_code == 409
    assert talk.answered("who is it?")[0] == "near"
    second = talk.set("far", "conversation", **talk.this_chat(), replaces=talk.agents["near"])
    assert (second["default_id"], second["created_at"]) == (first["default_id"], first["created_at"])
    assert talk.answered("and now?")[0] == "far"


def test_the_list_of_defaults_has_names_and_changes_are_audited(talk: Talk) -> None:
    made = talk.set("near", "conversation", **talk.this_chat())
    talk.set("far", "workspace")
    [own] = talk.host.items("/default-agents", bot_id=talk.bot_id)
    assert own == made
    assert (own["agent_name"], own["bot_name"], own["chat"], own["platform"]) == ("of near", "tester", CHAT, None)
    assert len(talk.host.items("/default-agents")) == 2
    talk.clear()
    entries = talk.host.items("/audit", kind="admin")
    actions = [each["action"] for each in entries if each["resource"] == made["default_id"]]
    assert actions == ["default_agent.delete", "default_agent.create"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"scope": "planet"}, "scope"),
        ({"scope": "conversation", "chat": "group:5"}, "bot_id"),
        ({"scope": "conversation", "bot_id": "ghost", "chat": "group:5"}, "bot_id"),
        ({"scope": "thread", "bot_id": "BOT", "chat": "group:5"}, "thread_id"),
        ({"scope": "conversation", "bot_id": "BOT", "chat": "5"}, "chat"),
        ({"scope": "channel", "platform": "onebot11", "chat": CHAT}, "chat"),
        ({"scope": "channel", "platform": "carrier pigeon", "chat": "group:5"}, "platform"),
        ({"scope": "actor", "platform": "onebot11"}, "actor_id"),
        ({"scope": "workspace", "chat": "group:5"}, "chat"),
        ({"scope": "workspace", "agent_id": "ghost"}, "agent_id"),
        ({"scope": "workspace", "colour": "red"}, "colour"),
    ],
)
def test_an_invalid_default_is_refused_by_field_and_not_stored(talk: Talk, fields: Json, field: str) -> None:
    body = {"agent_id": talk.agents["near"], **fields}
    body = {name: talk.bot_id if value == "BOT" else value for name, value in body.items()}
    refused = talk.host.http().put("/default-agents", json=body)
    assert refused.status_code == 422, refused.text
    assert named_fields(refused)[0] == field
    assert talk.host.items("/default-agents") == []


def test_a_dry_run_names_the_agent_and_the_default_that_selects_it(talk: Talk) -> None:
    routed = talk.tried()
    assert (routed["agent_id"], routed["scope"]) == (talk.agents["bot"], "bot")
    talk.set("near", "thread", **talk.this_chat(), thread_id="topic")
    threaded = talk.tried(thread_id="topic")
    assert (threaded["agent_id"], threaded["scope"], threaded["handler_type"]) == (
        talk.agents["near"],
        "thread",
        "agent",
    )
    assert threaded["reasons"][-2:] == [
        f"the default agent of thread topic of {CHAT}: it takes the event",
        "agent 'of near' answers",
    ]
    talk.route("drop", {}, text_prefix="#")
    talk.set("far", "workspace")
    unrouted = talk.tried()
    assert (unrouted["route"], unrouted["handler_type"], unrouted["scope"]) == (None, "agent", "workspace")


def test_deleting_a_conversation_a_bot_or_an_agent_deletes_its_default(talk: Talk) -> None:
    host = talk.host
    talk.set("near", "conversation", **talk.this_chat())
    assert talk.answered("remember me")[0] == "near"
    [conversation] = [each for each in host.items("/conversations") if each["chat"] == CHAT]
    assert host.http().delete(f"/conversations/{conversation['conversation_id']}").status_code == 204
    assert host.items("/default-agents") == []
    assert talk.answered("what did I say?")[0] == "bot"
    body = {"name": "short-lived", "adapter": "onebot11", "adapter_config": {"port": free_port()}, "enabled": False}
    bot_id = host.http().post("/bots", json=body).json()["bot_id"]
    mortal = host.agent(ECHO, "mortal")
    talk.set("near", "conversation", bot_id=bot_id, chat="group:1")
    talk.set(mortal, "workspace")
    assert host.http().delete(f"/bots/{bot_id}").status_code == 204
    assert [each["agent_name"] for each in host.items("/default-agents")] == ["mortal"]
    assert host.http().delete(f"/agents/{mortal}").status_code == 204
    assert host.items("/default-agents") == []
    assert error_code(host.http().delete("/default-agents/none")) == "not_found"


@pytest.mark.long
def test_two_defaults_inserted_by_hand_are_an_error_that_names_both(make_host: MakeHost) -> None:
    host = make_host(PARLOUR__PLUGINS__BUNDLED="false")
    host.key()  # this creates the database
    with closing(sqlite3.connect(host.data / "parlour.db")) as database, database:
        database.execute("CREATE TABLE loose AS SELECT * FROM default_agents")
        database.execute("DROP TABLE default_agents")
        database.execute("ALTER TABLE loose RENAME TO default_agents")
        database.execute("INSERT INTO bots VALUES (?, ?, 0, 0)", ("bot", Bot("bot", "Bot", "onebot11").encode()))
        for name in ("Ann", "Bob"):
            agent = Agent(name, name, ECHO)
            database.execute("INSERT INTO agents VALUES (?, ?, 0, 0)", (name, agent.encode()))
            columns = "default_id, scope, platform, bot_id, chat, thread_id, actor_id, agent_id, created_at, updated_at"
            row = (f"default-{name}", "workspace", "", "", "", "", "", name, 0, 0)
            database.execute(f"INSERT INTO default_agents ({columns}) VALUES ({', '.join('?' * len(row))})", row)
    host.start()
    result = host.http().post("/events?wait=result", json={"bot_id": "bot", "input": {"text": "who?"}}).json()
    assert result["outcome"] == "misconfigured"
    assert result["reason"].startswith("'Ann' and 'Bob' both claim to be the default agent of the workspace")
    body = {"scope": "workspace", "agent_id": "Bob"}
    refused = host.http().put("/default-agents", json=body)
    assert refused.status_code == 409
    assert [each["name"] for each in refused.json()["error"]["details"]["rivals"]] == ["Ann", "Bob"]

"""Tests previews through the real program: rules see the person, nothing else does, and the platform gets nothing."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.harness import ECHO, ECHO_PLUGIN, ROOT, Host, Json, error_code, eventually, named_fields, texts
from tests.support.onebot import Peer, free_port
from tests.support.scripted import CALLER, CALLING_PLUGIN

PLUGINS = ROOT / "tests" / "fixtures" / "plugins"
ACTING = "plugin:test/acting-agent/default"
GROUP = {"chat_type": "group", "chat_id": "42"}
KEEP = ["call_tool", {"tool_name": "test/borrowing.keep", "parameters": {"value": "kept"}}]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(tmp_path_factory.mktemp("previews"), PARLOUR__PLUGINS__BUNDLED="false")
    for plugin in (ECHO_PLUGIN, CALLING_PLUGIN, *(PLUGINS / f"{name}.py" for name in ("borrowing", "observing"))):
        host.install(plugin)
    host.install(PLUGINS / "acting_agent.py")
    yield host.start()
    host.close()


class Desk:
    """A connected bot, and the other end of its connection."""

    def __init__(self, host: Host) -> None:
        port = free_port()
        config = {"mode": "reverse", "port": port}
        made = host.http().post("/bots", json={"name": "desk", "adapter": "onebot11", "adapter_config": config})
        assert made.status_code == 201, made.text
        self.host, self.id, self.peer = host, str(made.json()["bot_id"]), Peer(port)

    def route(self, *routes: Json) -> None:
        answer = self.host.http().put(f"/bots/{self.id}/routes", json=list(routes))
        assert answer.status_code == 200, answer.text

    def preview(self, text: str, **fields: Any) -> Json:
        return said(self.host, f"/bots/{self.id}", text, **fields)


@pytest.fixture(scope="module")
def desk(host: Host) -> Iterator[Desk]:
    desk = Desk(host)
    yield desk
    desk.peer.close()


def said(host: Host, target: str, text: str, key: str | None = None, **fields: Any) -> Json:
    answer = host.http(key).post(f"{target}/preview?wait=result", json={"text": text, **fields})
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    return result


def to_agent(agent: str, **fields: Any) -> Json:
    return {"event_type": "message.*", "handler_type": "agent", "handler_config": {"agent_id": agent}, **fields}


def pipeline(host: Host, agent: str, **fields: Any) -> str:
    made = host.http().post("/pipelines", json={"name": "Support", "agent_id": agent, **fields})
    assert made.status_code == 201, made.text
    return f"/pipelines/{made.json()['pipeline_id']}"


def test_routes_see_the_chat_the_mention_the_person_and_the_role(host: Host, desk: Desk) -> None:
    agent = host.agent(ECHO)
    admins = {"chat_type": "group", "mentions_bot": True, "roles": ["admin"], "groups": ["42"]}
    desk.route(to_agent(agent, filters=admins), to_agent(agent, filters={"users": ["7"]}))
    admin = {"id": "1", "role": "admin"}
    assert texts(desk.preview("hello", **GROUP, mentions_bot=True, person=admin)) == ["hello"]
    for missing in (
        {**GROUP, "mentions_bot": False, "person": admin},
        {**GROUP, "mentions_bot": True, "person": {"id": "1", "role": "member"}},
        {**GROUP, "chat_id": "43", "mentions_bot": True, "person": admin},
        {"person": admin},
    ):
        result = desk.preview("hello", **missing)
        assert (texts(result), result["run"]) == ([], None), missing
    assert texts(desk.preview("hello", person={"id": "7"})) == ["hello"]


def test_access_rules_and_quotas_of_a_pipeline_are_applied_with_counters_of_their_own(host: Host) -> None:
    limit = {"per": "agent", "count": 1, "window": "day", "over": "tell", "tell": "Enough."}
    wake = {"access": {"mode": "deny", "entries": ["role:guest"]}, "groups": {"prefixes": ["ai"]}}
    target = pipeline(host, host.agent(ECHO), message_policy={"wake": wake, "limits": [limit]})
    assert said(host, target, "ai hello", **GROUP, person={"id": "1", "role": "guest"})["messages"] == []
    assert said(host, target, "hello", **GROUP)["messages"] == []
    assert texts(said(host, target, "ai hello", **GROUP)) == ["hello"]
    assert texts(said(host, target, "ai again", **GROUP)) == ["Enough."]

    bot = host.http().post("/bots", json={"name": "b", "adapter": "onebot11", "enabled": False}).json()["bot_id"]
    config = {"pipeline_id": target.removeprefix("/pipelines/")}
    route = {"event_type": "message.received", "handler_type": "pipeline", "handler_config": config}
    assert host.http().put(f"/bots/{bot}/routes", json=[route]).status_code == 200
    real = host.http().post("/events?wait=result", json={"bot_id": bot, "input": {"text": "hello"}}).json()
    assert texts(real) == ["hello"], "the preview took nothing from the real quota"


def test_preview_has_a_history_of_its_own(host: Host, desk: Desk) -> None:
    desk.route(to_agent(host.agent(ECHO)))
    path, person = f"/bots/{desk.id}/preview", {"id": "7", "name": "Ann"}
    scene = {"chat_id": "history"}
    assert host.http().get(path, params=scene).json() == {"conversation_id": None}
    first = desk.preview("one", **scene, person=person, event_id="first")
    desk.preview("two", **scene, person=person)
    assert desk.preview("one", **scene, person=person, event_id="first")["run"] == first["run"], (
        "it is the same message"
    )
    conversation = host.http().get(path, params=scene).json()["conversation_id"]
    history = [("user", "one"), ("assistant", "one"), ("user", "two"), ("assistant", "two")]
    assert host.transcript(conversation) == history
    other = host.key("admin", "another administrator")
    assert host.http(other).get(path, params=scene).json() == {"conversation_id": None}
    assert host.http().get(path, params={**scene, "chat_type": "group"}).json() == {"conversation_id": None}
    assert host.items("/events", bot_id=desk.id) == [], "the bot itself has got nothing"

    command = desk.preview("/new", **scene, person=person)
    assert command["outcome"] == "control"
    assert host.http().get(path, params=scene).json()["conversation_id"] != conversation
    assert host.http().delete(f"/conversations/{conversation}").status_code == 204
    assert host.transcript(conversation) == []


def test_nothing_reaches_the_platform_or_observers(host: Host, desk: Desk) -> None:
    policy = {"message.send": "allow", "elsewhere/message.send": "allow"}
    desk.route(to_agent(host.agent(ACTING, approval_policy=policy)))
    place = {"bot_id": desk.id, "chat_type": "private", "chat_id": "7"}
    actions = [["message.send", {}, {"text": "a"}, 1], ["message.send", place, {"text": "b"}, 1]]
    result = desk.preview(json.dumps(actions), event_id="acting", person={"id": "7"})
    assert texts(result) == ["message.send: denied"] * 2
    desk.preview("last", event_id="last")
    desk.peer.say("for real", user=7)
    assert desk.peer.next_send() == ("private 7", "message.received  for real"), "it is the first"
    observed = host.shared_file("observed.txt", "test/observing")
    eventually(lambda: observed.exists() and observed.read_text(), "the real message was observed")
    assert not {"acting", "last"} & set(observed.read_text().split())


def test_tools_that_may_change_something_are_asked_about_first(host: Host) -> None:
    rules = [{"tools": ["*"], "decide": "allow"}]
    target = pipeline(host, host.agent(CALLER, resource_policy={"tools": "*"}, tool_policy=rules))
    told = ["call_tool", {"tool_name": "test/borrowing.told", "parameters": {}}]
    [[answer]] = [json.loads(each) for each in texts(said(host, target, json.dumps([told])))]
    assert answer["content"][0]["value"]["actor"] != "7", "the sender is the preview's"

    accepted = host.http().post(f"{target}/preview", json={"text": json.dumps([KEEP]), "event_id": "asks"})
    assert accepted.status_code == 202
    [approval] = eventually(lambda: host.items("/approvals", status="pending"), "the call is asked about")
    assert (approval["call"]["tool"], approval["who"]["roles"]) == ("test/borrowing.keep", [])
    assert approval["requester"].startswith("preview:key:")
    decided = host.http().post(f"/approvals/{approval['approval_id']}", json={"decision": "approve"})
    assert decided.status_code == 200, decided.text
    result = said(host, target, json.dumps([KEEP]), event_id="asks")
    assert "kept" in texts(result)[-1]


def test_preview_neither_reads_nor_changes_stored_values_of_real_chats(host: Host) -> None:
    agent = host.agent(CALLER)
    target = pipeline(host, agent)

    def stored(value: str) -> list[Any]:
        return [
            "storage_set",
            {"area": "plugin", "key": "k", "content_base64": base64.b64encode(value.encode()).decode()},
        ]

    read = json.dumps([["storage_get", {"area": "plugin", "key": "k"}]])
    host.ask(agent, json.dumps([stored("real")]))
    [[before]] = [json.loads(each) for each in texts(said(host, target, read))]
    assert not before["found"]
    said(host, target, json.dumps([stored("preview")]))
    [[real]] = [json.loads(each) for each in texts(host.ask(agent, read))]
    assert base64.b64decode(real["content_base64"]) == b"real"
    create = ["run_create", {"runner_id": CALLER, "event": {"event_type": "message.received", "input": {"text": read}}}]
    [[created]] = [json.loads(each) for each in texts(said(host, target, json.dumps([create])))]
    assert host.run(created["run_id"])["workspace_id"] == "preview", "what it starts is a preview too"


def test_previews_are_audited_and_refused_to_others(host: Host, desk: Desk) -> None:
    desk.route(to_agent(host.agent(ECHO)))
    desk.preview("a private word", event_id="audited", person={"id": "7", "role": "owner"})
    [entry] = [each for each in host.items("/audit") if "audited" in str(each["detail"])]
    assert (entry["action"], entry["resource"]) == ("preview.send", f"bot:{desk.id}")
    assert entry["detail"]["after"]["person_id"] == "7"
    assert "a private word" not in str(entry)
    refused = host.http(host.key("operator")).post(f"/bots/{desk.id}/preview", json={"text": "hello"})
    assert (refused.status_code, error_code(refused)) == (403, "forbidden")
    assert host.http().post("/bots/none/preview", json={"text": "hello"}).status_code == 404
    assert host.http().post("/pipelines/none/preview", json={"text": "hello"}).status_code == 404
    for body, field in (({"text": ""}, "text"), ({"text": "a", "chat_type": "party"}, "chat_type")):
        assert named_fields(host.http().post(f"/bots/{desk.id}/preview", json=body)) == [field]


def test_routes_without_an_agent_say_so(host: Host, desk: Desk) -> None:
    desk.route({"event_type": "message.*", "handler_type": "plugin", "handler_config": {}})
    result = desk.preview("hello")
    assert (result["run"], result["outcome"]) == (None, "dropped")
    assert "a preview calls no handler of the type 'plugin'" in result["reason"]
    trail: httpx.Response = host.http().get(f"/events/{result['event_id']}/why")
    assert "a preview calls no handler" in trail.text

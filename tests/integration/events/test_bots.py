"""Tests bots through a real Host and a real WebSocket: creation, changes, deletion, routes and secrets."""

import asyncio
import base64
import hmac
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.harness import ECHO, ECHO_PLUGIN, NO_TLS, ROOT, Host, error_code, eventually, named_fields
from tests.support.hooks import Hooks, Received
from tests.support.onebot import Peer, free_port

LISTENING_PLUGIN = ROOT / "tests" / "fixtures" / "plugins" / "hearing.py"
TOKEN = "a token that nobody may read"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    host = Host(
        tmp_path_factory.mktemp("bots"),
        PARLOUR__TOOLS__ALLOWED_ADDRESSES="127.0.0.1/32",
        PARLOUR__PLUGINS__FIRST_RESTART_SECONDS=0.05,
        PARLOUR__PLUGINS__BUNDLED="false",
    )
    host.install(ECHO_PLUGIN)
    host.install(LISTENING_PLUGIN)
    host.start()
    host.agent(ECHO, "oldest")
    yield host
    host.close()


@pytest.fixture(scope="module")
def hooks() -> Iterator[Hooks]:
    with Hooks().serving() as hooks:
        yield hooks


class Bot:
    """Represents one bot and its peer."""

    def __init__(self, host: Host, **config: Any) -> None:
        self.host = host
        self.port = free_port()
        self.config: Json = {"mode": "reverse", "port": self.port, **config}
        made = host.http().post("/bots", json=self.body())
        assert made.status_code == 201, made.text
        self.made = made.json()
        self.id = str(self.made["bot_id"])
        self.peer = Peer(self.port, config.get("access_token", ""))

    def body(self, **fields: Any) -> Json:
        return {"name": "tester", "adapter": "onebot11", "adapter_config": self.config, **fields}

    def put(self, **fields: Any) -> Json:
        answer = self.host.http().put(f"/bots/{self.id}", json=self.body(**fields))
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def read(self) -> Json:
        return dict(self.host.http().get(f"/bots/{self.id}").json())

    def is_in_state(self, state: str) -> None:
        eventually(lambda: self.read()["status"]["state"] == state, f"the bot is {state}", 30)

    def route(self, *routes: Json) -> list[Json]:
        answer = self.host.http().put(f"/bots/{self.id}/routes", json=list(routes))
        assert answer.status_code == 200, answer.text
        return list(answer.json()["items"])

    def delete(self) -> None:
        self.peer.close()
        assert self.host.http().delete(f"/bots/{self.id}").status_code == 204

    def events(self) -> list[Json]:
        """Returns the events of the bot, the newest first."""
        return self.host.items("/events", bot_id=self.id)

    def why(self, event: Json) -> str:
        answer = self.host.http().get(f"/events/{event['event_id']}/why")
        assert answer.status_code == 200, answer.text
        return answer.text


@pytest.fixture(scope="module")
def bot(host: Host) -> Iterator[Bot]:
    bot = Bot(host)
    bot.is_in_state("connected")
    yield bot
    bot.delete()


def to_agent(host: Host, **fields: Any) -> Json:
    agent_id = host.items("/agents")[0]["agent_id"]
    return {"event_type": "message.*", "handler_type": "agent", "handler_config": {"agent_id": agent_id}, **fields}


def test_a_bot_is_created_answers_is_paused_and_deleted_without_a_restart_of_the_host(host: Host) -> None:
    bot = Bot(host)
    bot.is_in_state("connected")
    bot.peer.say("hello there")
    assert bot.peer.next_send() == ("private 7", "hello there")
    assert bot.put(enabled=False)["status"]["state"] == "stopped"
    assert bot.peer.is_cut()
    assert bot.put(enabled=True)["enabled"]
    bot.peer = Peer(bot.port)
    bot.peer.say("again")
    assert bot.peer.next_send() == ("private 7", "again")
    bot.delete()
    assert bot.peer.is_cut()
    assert host.http().get(f"/bots/{bot.id}").status_code == 404
    assert bot.id not in [each["bot_id"] for each in host.items("/bots")]


async def test_routes_that_are_saved_while_their_bot_is_deleted_leave_nothing_behind(host: Host) -> None:
    paths = [f"/bots/{host.http().post('/bots', json=disabled_bot()).json()['bot_id']}" for _ in range(10)]
    async with httpx.AsyncClient(base_url=host.http().base_url, headers=host.http().headers, verify=NO_TLS) as http:
        for path in paths:
            puts = [http.put(f"{path}/routes", json=[{"handler_type": "drop"}]) for _ in range(4)]
            gone, *put = await asyncio.gather(http.delete(path), *puts)
            assert gone.status_code == 204
            assert {each.status_code for each in put} <= {200, 404}
    event = {"event_type": "message.received", "input": {"text": "hello"}}
    for path in paths:
        answer = host.http().post("/events", json={**event, "bot_id": path.removeprefix("/bots/")})
        assert answer.status_code == 404, "no route is left of it"


def test_unsent_replies_of_a_deleted_bot_end_with_a_reason_on_the_trail(host: Host) -> None:
    bot_id = host.http().post("/bots", json=disabled_bot()).json()["bot_id"]
    host.http().put(f"/bots/{bot_id}/routes", json=[to_agent(host)])
    chat = {"chat_type": "private", "chat_id": "8"}
    event = {"bot_id": bot_id, "conversation_id": "c", "input": {"text": "hello"}, "data": chat}
    result = host.http(host.key("platform")).post("/events?wait=result", json=event).json()
    path = f"/events/{result['event_id']}/why"
    assert "the bot was deleted" not in host.http().get(path).text
    assert host.http().delete(f"/bots/{bot_id}").status_code == 204
    eventually(lambda: "the bot was deleted" in host.http().get(path).text, "the trail says why", 30)


def disabled_bot() -> Json:
    return {"name": "asleep", "adapter": "onebot11", "adapter_config": {"port": free_port()}, "enabled": False}


def test_a_stored_secret_is_never_returned(host: Host) -> None:
    bot = Bot(host, access_token=TOKEN)
    bot.is_in_state("connected")
    assert bot.made["adapter_config"] == {"mode": "reverse", "port": bot.port, "host": "127.0.0.1"}
    assert bot.made["secrets_set"] == ["access_token"]
    del bot.config["access_token"]
    assert bot.put(name="renamed")["secrets_set"] == ["access_token"], "what is left out stays"
    bot.put(enabled=False)
    bot.put(enabled=True)
    bot.peer = Peer(bot.port, TOKEN)
    bot.peer.say("with the same token")
    assert bot.peer.next_send()[1] == "with the same token"
    answers = [host.http().get(path).text for path in (f"/bots/{bot.id}", "/bots", "/audit")]
    assert not [text for text in answers if TOKEN in text]
    written = [file for file in host.data.rglob("*") if file.is_file() and TOKEN.encode() in file.read_bytes()]
    assert written == []
    assert TOKEN not in host.log()
    bot.config["access_token"] = ""
    assert bot.put()["secrets_set"] == [], "what is given empty is taken away"
    bot.delete()


ADDRESSES: list[tuple[str, str, Json, Json]] = [
    ("onebot11", "access_token", {"mode": "forward", "url": "ws://127.0.0.1:9"}, {"url": "ws://127.0.0.2:9"}),
    ("onebot11", "access_token", {"mode": "reverse"}, {"mode": "forward", "url": "ws://127.0.0.2:9"}),
    ("telegram", "token", {}, {"api_base_url": "http://127.0.0.2:9"}),
    (
        "telegram",
        "token",
        {"mode": "webhook", "webhook_url": "https://a.example"},
        {"webhook_url": "https://b.example"},
    ),
    (
        "matrix",
        "access_token",
        {"homeserver": "http://127.0.0.1:9", "user": "@bot:example.org"},
        {"homeserver": "http://127.0.0.2:9"},
    ),
]


@pytest.mark.parametrize(("adapter", "secret", "config", "moved"), ADDRESSES)
def test_a_secret_is_asked_for_again_when_the_bot_gets_another_address(
    host: Host, adapter: str, secret: str, config: Json, moved: Json
) -> None:
    value = "1:" + "a" * 40
    body: Json = {"name": "mover", "adapter": adapter, "enabled": False}
    made = host.http().post("/bots", json={**body, "adapter_config": {**config, secret: value}})
    assert made.status_code == 201, made.text
    path = f"/bots/{made.json()['bot_id']}"

    refused = host.http().put(path, json={**body, "adapter_config": {**config, **moved}})
    assert (refused.status_code, named_fields(refused)) == (422, [f"adapter_config.{secret}"])
    assert value not in refused.text
    assert host.http().get(path).json()["adapter_config"] == made.json()["adapter_config"], "nothing was changed"

    renamed = host.http().put(path, json={**body, "name": "same address", "adapter_config": config})
    assert (renamed.status_code, renamed.json()["secrets_set"]) == (200, [secret])
    again = host.http().put(path, json={**body, "adapter_config": {**config, **moved, secret: value}})
    assert (again.status_code, again.json()["secrets_set"]) == (200, [secret])
    assert host.http().delete(path).status_code == 204


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"name": "x", "adapter": "carrier pigeon"}, ["adapter"]),
        *(({"name": blank, "adapter": "onebot11"}, ["name"]) for blank in ("", "  ")),
        ({"name": "x", "adapter": "onebot11", "bot_id": "mine"}, ["bot_id"]),
        ({"name": "x", "adapter": "onebot11", "colour": "red"}, ["colour"]),
        ({"name": "x", "adapter": "onebot11", "adapter_config": {"prot": 1}}, ["adapter_config.prot"]),
        (
            {"name": "x", "adapter": "onebot11", "adapter_config": {"mode": "sideways", "port": "many"}},
            ["adapter_config.mode"],
        ),
        *(
            ({"name": "x", "adapter": "onebot11", "adapter_config": {"port": port}}, ["adapter_config.port"])
            for port in (-1, 65_536, 70_000)
        ),
        *(
            (
                {"name": "x", "adapter": "onebot11", "adapter_config": {"mode": "forward", "url": url}},
                ["adapter_config.url"],
            )
            for url in (None, "http://napcat:3001", "ws://127.0.0.1:99999", "ws://a:b@napcat", "ws://napcat/?token=Q")
        ),
    ],
)
def test_an_invalid_bot_is_refused_by_field_and_not_created(host: Host, body: Json, fields: list[str]) -> None:
    before = host.items("/bots")
    answer = host.http().post("/bots", json=body)
    assert answer.status_code == 422
    assert named_fields(answer)[: len(fields)] == fields
    assert len(host.items("/bots")) == len(before)


@pytest.mark.parametrize("kind", ["bot", "agent"])
def test_a_response_body_can_be_sent_back_with_a_change_but_not_with_another_id(
    host: Host, bot: Bot, kind: str
) -> None:
    path = f"/{kind}s/{bot.id if kind == 'bot' else host.agent()}"
    read = host.http().get(path).json()
    answer = host.http().put(path, json={**read, "name": "renamed"})
    assert answer.status_code == 200, answer.text
    assert answer.json()["name"] == "renamed"
    assert named_fields(host.http().put(path, json={**read, f"{kind}_id": "another"})) == [f"{kind}_id"]


def test_a_bot_stays_with_its_adapter_and_a_missing_one_is_not_found(host: Host, bot: Bot) -> None:
    answer = host.http().put(f"/bots/{bot.id}", json={"name": "x", "adapter": "fax"})
    assert named_fields(answer) == ["adapter"]
    for path in ("/bots/none", "/bots/none/routes", "/adapters/none"):
        assert error_code(host.http().get(path)) == "not_found"


def test_adapters_say_what_they_support(host: Host) -> None:
    listed = {each["name"]: each for each in host.items("/adapters")}
    one = host.http().get("/adapters/onebot11").json()
    assert listed["onebot11"] == one
    assert {"supported_events", "supported_apis", "actions", "config"} <= one.keys()


def test_a_new_bot_answers_only_messages_that_mention_it(host: Host) -> None:
    bot = Bot(host)
    [route] = host.items(f"/bots/{bot.id}/routes")
    assert (route["event_type"], route["filters"]) == ("message.received", {"mentions_bot": True})
    bot.peer.say("among ourselves", group=5)
    bot.peer.say("a question", group=5, mention=True)
    assert bot.peer.next_send() == ("group 5", "a question")
    unanswered = next(each for each in bot.events() if each["input_summary"] == "among ourselves")
    assert "the bot is not mentioned" in bot.why(unanswered)
    bot.delete()


def test_routes_keep_their_order_and_a_dry_run_explains_them(host: Host, bot: Bot) -> None:
    listed = bot.route(
        {"event_type": "message.received", "handler_type": "drop", "filters": {"text_prefix": "#"}, "priority": 5},
        to_agent(host, filters={"time_window": {"from": "00:00", "to": "00:00", "timezone": "Asia/Shanghai"}}),
        {"event_type": "message.recalled", "handler_type": "plugin"},
    )
    assert [route["handler_type"] for route in listed] == ["drop", "agent", "plugin"]
    assert listed == host.items(f"/bots/{bot.id}/routes")
    example = {"type": "message.received", "message_chain": [{"type": "Plain", "text": "hello"}], "sender": {"id": "7"}}
    tried = host.http().post(f"/bots/{bot.id}/routes/dry-run", json={"event": example}).json()
    assert (tried["handler_type"], tried["route"]["route_id"]) == ("agent", listed[1]["route_id"])
    assert any("text_prefix: the text begins otherwise" in reason for reason in tried["reasons"])
    assert tried["reasons"][-1] == "agent 'oldest' answers"
    assert [step["text"] for step in tried["steps"]] == tried["reasons"]
    assert [(step["kind"], step["code"]) for step in tried["steps"]] == [
        ("route", "text_prefix"),
        ("route", "other_type"),
        ("route", "takes_filtered"),
        ("outcome", "outcome_answers"),
    ]
    recalled = host.http().post(f"/bots/{bot.id}/routes/dry-run", json={"event": {"event_type": "message.deleted"}})
    assert recalled.json()["route"]["event_type"] == "message.recalled"
    unmatched = host.http().post(f"/bots/{bot.id}/routes/dry-run", json={"event": {"type": "friend.added"}}).json()
    assert (unmatched["route"], unmatched["handler_type"]) == (None, "plugin")
    assert unmatched["reasons"][-1] == "it goes to the listeners of all plugins"


@pytest.mark.parametrize(
    ("route", "field"),
    [
        ({"handler_type": "oracle"}, "0.handler_type"),
        ({"handler_type": "drop", "event_type": "message.exploded"}, "0.event_type"),
        ({"handler_type": "drop", "filters": {"text_regex": "("}}, "0.filters.text_regex"),
        ({"handler_type": "drop", "filters": {"probability": 2}}, "0.filters.probability"),
        ({"handler_type": "drop", "filters": {"mood": "good"}}, "0.filters.mood"),
        (
            {"handler_type": "drop", "filters": {"time_window": {"from": "9", "to": "10:00"}}},
            "0.filters.time_window.from",
        ),
        (
            {
                "handler_type": "drop",
                "filters": {"time_window": {"from": "09:00", "to": "10:00", "timezone": "Mars"}},
            },
            "0.filters.time_window.timezone",
        ),
        ({"handler_type": "agent"}, "0.handler_config.agent_id"),
        ({"handler_type": "agent", "handler_config": {"agent_id": "ghost"}}, "0.handler_config.agent_id"),
        ({"handler_type": "webhook", "handler_config": {"url": "file:///etc/passwd"}}, "0.handler_config.url"),
        (
            {"handler_type": "webhook", "handler_config": {"url": "https://user:secret@example.org"}},
            "0.handler_config.url",
        ),
        (
            {"handler_type": "webhook", "handler_config": {"url": "https://h", "response_actions": ["kick"]}},
            "0.handler_config.response_actions",
        ),
        ({"handler_type": "drop", "filters": {"text_prefix": " "}}, "0.filters.text_prefix"),
        ({"handler_type": "drop", "filters": {"text_regex": f"(?:{'a?' * 400}){{9999}}"}}, "0.filters.text_regex"),
        (
            {"handler_type": "webhook", "handler_config": {"url": "https://h", "headers": {"X-Key": "********"}}},
            "0.handler_config.headers.X-Key",
        ),
        (
            {"handler_type": "plugin", "handler_config": {"plugins": ["test/hearing", "test/gone"]}},
            "0.handler_config.plugins.1",
        ),
    ],
)
def test_an_invalid_route_is_refused_by_field_and_the_other_routes_stay(
    host: Host, bot: Bot, route: Json, field: str
) -> None:
    before = host.items(f"/bots/{bot.id}/routes")
    answer = host.http().put(f"/bots/{bot.id}/routes", json=[route])
    assert answer.status_code == 422
    assert named_fields(answer)[0] == field, answer.text
    assert host.items(f"/bots/{bot.id}/routes") == before


def test_not_a_number_is_refused_in_a_filter(host: Host, bot: Bot) -> None:
    body = '[{"handler_type": "drop", "filters": {"data": {"x": NaN}}}]'
    answer = host.http().put(f"/bots/{bot.id}/routes", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert any("filters.data" in name for name in named_fields(answer)), answer.text


def wait_for_note(host: Host, line: str) -> None:
    file = host.shared_file("heard.txt", "test/hearing")
    eventually(lambda: file.exists() and line in file.read_text(), f"'{line}' was noted", 30)


def test_listeners_receive_every_event_may_answer_it_and_resume_after_a_crash(host: Host, bot: Bot) -> None:
    bot.route(to_agent(host))
    bot.peer.say("watched", user=8)
    assert bot.peer.next_send() == ("private 8", "watched")
    message = next(each for each in bot.events() if each["input_summary"] == "watched")
    wait_for_note(host, f"saw message.received {message['event_id']} on onebot11")
    bot.peer.report(post_type="notice", notice_type="group_increase", sub_type="approve", group_id=5, user_id=9)
    assert bot.peer.next_send() == ("group 5", "welcome, 9")
    joined = next(each for each in bot.events() if each["event_type"] == "group.member_joined")
    expected = "test/hearing took it; test/hearing let nobody else have it"
    eventually(lambda: expected in bot.why(joined), "it is handled, so that it is not again after the plugin's death")
    bot.peer.report(post_type="notice", notice_type="friend_add", user_id=9)
    wait_for_note(host, "befriended 9")


def standard_signature(received: Received, key: bytes) -> str:
    """Computes the signature as the receiver does, from the standard alone."""
    signed = b".".join([received.headers[name].encode() for name in ("webhook-id", "webhook-timestamp")])
    digest = hmac.digest(key, signed + b"." + received.body, "sha256")
    return f"v1,{base64.b64encode(digest).decode()}"


def test_a_webhook_is_signed_may_reply_and_may_not_send_to_another_chat(host: Host, bot: Bot, hooks: Hooks) -> None:
    config = {"url": hooks.url, "secret": "whsec_c2VjcmV0", "response_actions": True, "headers": {"X-Key": "k e y"}}
    [route] = bot.route({"event_type": "message.*", "handler_type": "webhook", "handler_config": config})
    assert route["handler_config"]["secret_set"]
    assert route["handler_config"]["headers"] == {"X-Key": "********"}
    assert "c2VjcmV0" not in str(route)
    actions = [
        {"type": "reply", "params": {"text": " "}},
        {"type": "send_message", "params": {"target_type": "private", "target_id": "1", "text": "psst"}},
        {"type": "reply", "params": {"text": "from the hook"}},
    ]
    hooks.answers.append((200, {"actions": actions}))
    bot.peer.say("to the hook", user=8)
    assert bot.peer.next_send() == ("private 8", "from the hook")
    [received] = hooks.received
    assert received.headers["x-key"] == "k e y"
    assert received.headers["webhook-signature"] == standard_signature(received, b"secret")
    assert received.event["sender"]["id"] == "8"
    event = next(each for each in bot.events() if each["input_summary"] == "to the hook")
    assert "It asked for reply, which was refused: payload: a message needs text" in bot.why(event)
    assert "It asked for send_message, which the route does not allow." in bot.why(event)
    eventually(lambda: "A reply was sent to platform." in bot.why(event), "the trail says what became of the reply")
    put = host.http().put(f"/bots/{bot.id}/routes", json=host.http().get(f"/bots/{bot.id}/routes").json())
    assert put.json()["items"] == [route], "what was read may be put back, and keeps its secrets"
    bot.peer.say("once more", user=8)
    eventually(lambda: len(hooks.received) == 2, "the hook got it", 30)
    assert hooks.received[1].headers["x-key"] == "k e y"
    assert "webhook-signature" in hooks.received[1].headers


def test_an_action_of_a_webhook_that_the_platform_refused_is_on_the_trail(host: Host, hooks: Hooks) -> None:
    bot = Bot(host)
    config = {"url": hooks.url, "response_actions": ["delete_message"]}
    bot.route({"event_type": "message.*", "handler_type": "webhook", "handler_config": config})
    hooks.answers.append((200, {"actions": [{"type": "delete_message", "params": {}}]}))
    bot.peer.say("delete me", user=8)
    bot.peer.refuse("delete_msg")
    event = eventually(lambda: [each for each in bot.events() if each["input_summary"] == "delete me"], "it came")[0]
    eventually(lambda: "An action could not be sent to platform: " in bot.why(event), "the trail says that it failed")
    assert "not now" in bot.why(event)
    bot.delete()


def test_a_dry_run_selects_the_route_that_the_real_event_took(host: Host, bot: Bot, hooks: Hooks) -> None:
    hook = {"event_type": "*", "handler_type": "webhook", "handler_config": {"url": hooks.url}}
    bot.route(
        {**hook, "description": "invited", "filters": {"users": ["8"], "groups": ["5"]}},
        {**hook, "description": "asked", "filters": {"chat_type": "private", "users": ["9"]}},
        {**hook, "description": "said", "filters": {"text_prefix": "@7 so"}},
        {**hook, "description": "poked", "filters": {"groups": ["6"], "data": {"target_id": 7}}},
    )
    bot.peer.report(
        post_type="notice", notice_type="group_increase", sub_type="invite", group_id=5, user_id=9, operator_id=8
    )
    bot.peer.report(post_type="request", request_type="friend", user_id=9, comment="it is me", flag="f")
    bot.peer.report(
        post_type="message",
        message_type="group",
        sub_type="normal",
        message_id=1,
        group_id=5,
        user_id=9,
        message=[{"type": "at", "data": {"qq": "7"}}, {"type": "text", "data": {"text": " so"}}],
        sender={"user_id": 9, "nickname": "Ann"},
    )
    bot.peer.report(post_type="notice", notice_type="notify", sub_type="poke", group_id=6, user_id=9, target_id=7)
    for description in ("invited", "asked", "said", "poked"):
        tried = host.http().post(
            f"/bots/{bot.id}/routes/dry-run", json={"event": received_by_webhook(bot, hooks, description)}
        )
        assert tried.json()["route"]["description"] == description, tried.json()["reasons"]


def received_by_webhook(bot: Bot, hooks: Hooks, description: str) -> Json:
    """Returns the event that this route handed to its webhook, as the webhook received it."""

    def came() -> Json | None:
        reason = f"handed to a webhook: route '*' ({description})"
        taken = {each["event_id"] for each in bot.events() if reason in bot.why(each)}
        return next((each.event for each in hooks.received if each.event["event_id"] in taken), None)

    return eventually(came, f"the webhook of route {description} got an event", 30)


def test_a_webhook_to_an_address_that_is_not_public_is_refused_with_a_reason(
    host: Host, bot: Bot, hooks: Hooks
) -> None:
    inside = f"http://127.0.0.2:{hooks.port}/in"
    bot.route({"event_type": "message.*", "handler_type": "webhook", "handler_config": {"url": inside}})
    bot.peer.say("to the inside", user=8)
    event = eventually(lambda: [each for each in bot.events() if each["input_summary"] == "to the inside"], "it came")
    eventually(lambda: "is not a public address" in bot.why(event[0]), "it is refused", 30)
    assert "tools.allowed_addresses" in bot.why(event[0])
    operator, viewer = host.http(host.key("operator")), host.http(host.key("viewer"))
    [job] = [
        each
        for each in operator.get("/jobs?state=failed&kind=webhook").json()["items"]
        if each["event_seq"] == event[0]["seq"]
    ]
    assert "is not a public address" in job["error"]
    assert operator.get(f"/jobs/{job['job_id']}").json() == job
    assert operator.post(f"/jobs/{job['job_id']}/cancel").status_code == 409
    assert viewer.post(f"/jobs/{job['job_id']}/retry").status_code == 403
    assert operator.post(f"/jobs/{job['job_id']}/retry").status_code == 200
    retried = eventually(lambda: _failed_again(operator.get(f"/jobs/{job['job_id']}").json(), job), "it fails again")
    assert retried["attempts"] == 1
    assert operator.get("/jobs/absent").status_code == operator.post("/jobs/absent/cancel").status_code == 404


def _failed_again(job: Json, before: Json) -> Json | None:
    return job if job["state"] == "failed" and job["finished_at"] > before["finished_at"] else None


def inject(host: Host, bot: Bot, scope: str, text: str) -> Json:
    data = {"chat_type": "private", "chat_id": "8"}
    body = {"bot_id": bot.id, "conversation_id": text, "input": {"text": text}, "data": data}
    answer: httpx.Response = host.http(host.key(scope)).post("/events?wait=result", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_an_injected_event_is_answered_on_the_platform_only_with_the_platform_scope(host: Host, bot: Bot) -> None:
    bot.route(to_agent(host))
    for scope in ("chat", "admin"):
        result = inject(host, bot, scope, f"by {scope}")
        assert [each["content"] for each in result["messages"]] == [f"by {scope}"]
    inject(host, bot, "platform", "by platform")
    assert bot.peer.next_send() == ("private 8", "by platform"), "and nothing of the others came before it"


def test_a_pending_webhook_call_is_retried_after_a_kill(host: Host, hooks: Hooks) -> None:
    bot = Bot(host)
    config = {"url": hooks.url, "retry_interval": 0.5, "retry_count": 20}
    bot.route({"event_type": "message.*", "handler_type": "webhook", "handler_config": config})
    hooks.answers.extend([(503, None)] * 2)
    before = len(hooks.received)
    bot.peer.say("do not forget", user=8)
    eventually(lambda: len(hooks.received) > before, "it was tried", 30)
    host.kill()
    host.start()
    eventually(lambda: len(hooks.received) >= before + 3, "it was tried until it was taken", 60)
    ids = {each.headers["webhook-id"] for each in hooks.received[before:]}
    assert len(ids) == 1
    bot.peer = Peer(bot.port)
    bot.delete()

"""Tests message policies through the real program: HTTP, database, plugin process, trail, dry run and metrics."""

from collections.abc import Callable

import httpx

from tests.support.harness import ECHO, ECHO_PLUGIN, Host, Json, bearer, error_code, named_fields, texts

QUOTA = {"limits": [{"per": "sender", "count": 1, "window": "day", "over": "tell", "tell": "Enough for today."}]}


def trail(host: Host, event_id: str) -> str:
    steps = host.http().get(f"/events/{event_id}/why").json()["steps"]
    return " ".join(step["text"] for step in steps)


def test_message_over_the_quota_is_refused_and_its_reason_is_on_the_trail(host: Host) -> None:
    agent = host.agent(ECHO, message_policy=QUOTA)
    assert texts(host.ask(agent, "one", event_id="q1")) == ["one"]
    assert texts(host.ask(agent, "one", event_id="q1")) == ["one"]

    refused = host.ask(agent, "two")

    assert (refused["outcome"], texts(refused)) == ("limited", ["Enough for today."])
    assert "1 messages per sender and day were answered" in trail(host, refused["event_id"])
    metrics = httpx.get(f"{host.address}/metrics", headers=bearer(host.key())).text
    assert 'parlour_outcomes_total{outcome="limited"}' in metrics


def test_quota_holds_after_a_restart_of_the_host(make_host: Callable[..., Host]) -> None:
    host = make_host(ECHO_PLUGIN).start()
    agent = host.agent(ECHO, message_policy=QUOTA)
    host.ask(agent, "one")
    host.restart()
    assert host.ask(agent, "two")["outcome"] == "limited"


def test_policy_is_read_back_as_it_was_given_and_refused_with_the_path(host: Host) -> None:
    agent = host.agent(ECHO, message_policy=QUOTA)
    body: Json = host.http().get(f"/agents/{agent}").json()
    assert body["message_policy"] == QUOTA
    assert host.http().put(f"/agents/{agent}", json=body).status_code == 200

    wrong = host.http().put(f"/agents/{agent}", json={**body, "message_policy": {"wake": {"groups": {"mentions": 1}}}})
    assert (wrong.status_code, named_fields(wrong)) == (422, ["message_policy.wake.groups.mentions"])


def test_check_describes_a_policy_in_sentences(host: Host) -> None:
    answer = host.http().post("/message-policies/check", json={"message_policy": QUOTA}).json()
    assert [sentence["code"] for sentence in answer["sentences"]] == ["limit_day"]
    assert answer["streams"] is True
    assert answer["message_policy"]["gather"]["seconds"] == 0
    wrong = host.http().post("/message-policies/check", json={"message_policy": {"limit": []}})
    assert named_fields(wrong) == ["message_policy.limit"]


def test_filters_with_a_shared_word_list_act_in_both_directions(host: Host) -> None:
    created = host.http().post("/word-lists", json={"name": "Words", "words": ["Secret"], "patterns": ["b[ae]d"]})
    list_id = created.json()["list_id"]
    words = {"use": "words", "config": {"list_id": list_id}}
    agent = host.agent(ECHO, message_policy={"filters": {"output": [{**words, "on": "mask"}]}})
    strict = host.agent(ECHO, message_policy={"filters": {"input": [{**words, "tell": "No."}]}})

    assert texts(host.ask(agent, "a secret and a bed")) == ["a ****** and a ***"]
    refused = host.ask(strict, "a SECRET")
    assert (refused["outcome"], texts(refused)) == ("refused", ["No."])
    assert "input filter 1 (words) blocks it" in trail(host, refused["event_id"])
    assert error_code(host.http().delete(f"/word-lists/{list_id}")) == "in_use"


def test_unknown_word_list_is_refused(host: Host) -> None:
    policy = {"filters": {"input": [{"use": "words", "config": {"list_id": "none"}}]}}
    answer = host.http().post("/agents", json={"name": "a", "runner_id": ECHO, "message_policy": policy})
    assert named_fields(answer) == ["message_policy.filters.input.0.config.list_id"]


def test_dry_run_of_routes_tells_what_the_policy_decides(host: Host) -> None:
    agent = host.agent(ECHO, message_policy={"wake": {"groups": {"prefixes": ["ai"]}}})
    bot_body = {"name": "b", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 1}, "enabled": False}
    bot = host.http().post("/bots", json=bot_body).json()["bot_id"]
    config = {"agent_id": agent, "message_policy": {"wake": {"groups": {"mention": False}}}}
    route = {"event_type": "message.received", "handler_type": "agent", "handler_config": config}
    stored = host.http().put(f"/bots/{bot}/routes", json=[route])
    assert stored.json()["items"][0]["handler_config"] == config
    event = {"text": "hello", "chat_type": "group", "chat_id": "1", "sender": {"id": "7"}, "mentions_bot": True}

    steps = host.http().post(f"/bots/{bot}/routes/dry-run", json={"event": event}).json()["steps"]
    assert steps[-1]["code"] == "policy_not_called"
    called = {**event, "text": "ai hello"}
    steps = host.http().post(f"/bots/{bot}/routes/dry-run", json={"event": called}).json()["steps"]
    assert steps[-1]["code"] == "outcome_answers"

"""Tests pipelines through the real program: made, tried, copied, bound to a route, and protected while in use."""

from tests.support.harness import ECHO, Host, Json, error_code, named_fields, texts

BOT = {"name": "desk", "adapter": "onebot11", "adapter_config": {"mode": "reverse", "port": 1}, "enabled": False}
POLICY = {
    "wake": {"groups": {"prefixes": ["ai"]}},
    "limits": [{"per": "sender", "count": 1, "window": "day", "over": "tell", "tell": "Enough."}],
    "filters": {"input": [{"use": "words", "config": {"words": ["bad"]}}], "output": []},
}


def make_pipeline(host: Host, **fields: object) -> Json:
    body = {"name": "Support", "agent_id": host.agent(ECHO), "message_policy": POLICY, **fields}
    answer = host.http().post("/pipelines", json=body)
    assert answer.status_code == 201, answer.text
    created: Json = answer.json()
    return created


def dry_run(host: Host, tried: Json, **body: object) -> Json:
    answer = host.http().post(f"/pipelines/{tried['pipeline_id']}/dry-run", json=body)
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    return result


def test_pipeline_is_read_changed_and_copied(host: Host) -> None:
    pipeline = make_pipeline(host)
    path = f"/pipelines/{pipeline['pipeline_id']}"
    assert pipeline["message_policy"] == POLICY
    assert host.http().get(path).json() == pipeline

    changed = host.http().put(path, json={**pipeline, "skills": ["a"]})
    assert (changed.status_code, changed.json()["skills"]) == (200, ["a"])
    copy = host.http().post(f"{path}/copy").json()
    assert (copy["name"], copy["skills"]) == ("Support 2", ["a"])
    assert copy["pipeline_id"] != pipeline["pipeline_id"]


def test_invalid_pipelines_are_refused_with_the_field(host: Host) -> None:
    http, agent = host.http(), host.agent(ECHO)
    assert named_fields(http.post("/pipelines", json={"name": "a", "agent_id": "none"})) == ["agent_id"]
    wrong = {"name": "a", "agent_id": agent, "message_policy": {"wake": {"group": {}}}}
    assert named_fields(http.post("/pipelines", json=wrong)) == ["message_policy.wake.group"]


def test_dry_run_tells_each_checkpoint_and_stores_nothing(host: Host) -> None:
    pipeline = make_pipeline(host)
    group = {"chat_type": "group"}

    def verdicts(text: str, **data: str) -> list[tuple[str, str]]:
        result = dry_run(host, pipeline, event={"input": {"text": text}, "data": data})
        return [(step["checkpoint"], step["verdict"]) for step in result["steps"]]

    assert verdicts("hello", **group) == [("wake", "stop")]
    assert verdicts("bad") == [("wake", "pass"), ("admit", "stop")]
    answered = dry_run(host, pipeline, event={"input": {"text": "ai hello"}, "data": group})
    assert answered["answered_by"] == pipeline["agent_id"]
    assert answered["input"] == "hello"
    assert [step["checkpoint"] for step in answered["steps"]] == ["wake", "admit", "admit", "answer"]
    assert verdicts("hello") == verdicts("hello"), "nothing was counted"
    assert dry_run(host, pipeline)["answered_by"] == pipeline["agent_id"]


def test_dry_run_tries_a_pipeline_that_is_not_saved(host: Host) -> None:
    pipeline = make_pipeline(host)
    output = {"use": "words", "config": {"words": ["secret"]}, "on": "mask"}
    edited = {"name": "x", "agent_id": pipeline["agent_id"], "message_policy": {"filters": {"output": [output]}}}
    result = dry_run(host, pipeline, event={}, reply="a secret", pipeline=edited)
    assert [step["after"] for step in result["steps"] if step["code"] == "shows"] == ["a ******"]


def test_route_leads_to_the_pipeline_and_protects_it(host: Host) -> None:
    pipeline = make_pipeline(host)
    bot = host.http().post("/bots", json=BOT).json()["bot_id"]
    config = {"pipeline_id": pipeline["pipeline_id"]}
    route = {"event_type": "message.received", "handler_type": "pipeline", "handler_config": config}
    stored = host.http().put(f"/bots/{bot}/routes", json=[route])
    assert (stored.status_code, stored.json()["items"][0]["handler_config"]) == (200, config)

    def ask(text: str) -> Json:
        body = {"bot_id": bot, "input": {"text": text}, "conversation_id": "c"}
        answer: Json = host.http().post("/events?wait=result", json=body).json()
        return answer

    assert texts(ask("hello")) == ["hello"]
    refused = ask("again")
    assert (refused["outcome"], texts(refused)) == ("limited", ["Enough."])
    in_use = host.http().delete(f"/pipelines/{pipeline['pipeline_id']}")
    assert (in_use.status_code, error_code(in_use)) == (409, "in_use")
    assert "'desk'" in in_use.json()["error"]["message"]
    missing = host.http().put(f"/bots/{bot}/routes", json=[{**route, "handler_config": {"pipeline_id": "none"}}])
    assert named_fields(missing) == ["0.handler_config.pipeline_id"]


def test_pipeline_whose_agent_is_deleted_says_so(host: Host) -> None:
    pipeline = make_pipeline(host)
    assert host.http().delete(f"/agents/{pipeline['agent_id']}").status_code == 204
    path = f"/pipelines/{pipeline['pipeline_id']}"
    assert host.http().get(path).json()["problem"] == "its agent was deleted; choose another one"
    assert dry_run(host, pipeline)["answered_by"] is None

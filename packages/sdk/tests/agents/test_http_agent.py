"""Tests HttpAgentRunner beyond the contract: metadata, questions, errors in the stream, time limits, configuration."""

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from parlour_sdk.agents import HttpAgentConfig, ServiceFailure
from parlour_sdk.agents.http_agent.config import read_config
from parlour_sdk.agents.http_agent.errors import SENTENCES
from parlour_sdk.plugin import load_runners, read_plugin
from parlour_sdk.protocol.content import ContentElement, MediaElement
from parlour_sdk.protocol.events import Actor
from parlour_sdk.protocol.runs import RunUsage
from parlour_sdk.testing import FakeHost, FakeRun
from parlour_sdk.testing.services import StreamReply, cut, stall, status

from .toy import ToyRig, ToyService

END = {"event": "end", "tokens": [7, 3]}


@pytest.fixture
async def rig() -> AsyncIterator[ToyRig]:
    async with ToyRig() as rig:
        assert isinstance(rig, ToyRig)
        yield rig


async def ask(rig: ToyRig, host: FakeHost | None = None, said: Any = "hello", **given: Any) -> FakeRun:
    config = {**rig.config(), **given.pop("config", {})}
    return await (host or FakeHost()).run(rig.plugin, said, config=config, **given)


async def test_citations_suggestions_thinking_and_usage_go_with_the_message(rig: ToyRig) -> None:
    rig.service.extra = [
        {"event": "thought", "text": "let me see"},
        {"event": "sources", "items": [{"title": "Manual"}]},
        {"event": "sources", "items": [{"title": "FAQ"}]},
        {**END, "next": ["And then?"]},
    ]
    run = await ask(rig)
    [message] = run.messages
    assert message.metadata == {"citations": [{"title": "Manual"}, {"title": "FAQ"}], "suggestions": ["And then?"]}
    assert message.reasoning == "let me see"
    assert run.usage == RunUsage(prompt_tokens=7, completion_tokens=3)


async def test_tools_and_nodes_are_telemetry(rig: ToyRig) -> None:
    rig.service.extra = [
        {"event": "tool", "id": "1", "name": "search", "input": {"q": "x"}, "output": "found"},
        {"event": "node", "id": "2", "title": "Plan", "status": "started"},
        {"event": "node", "id": "2", "title": "Plan", "status": "failed", "detail": "no time"},
        {"event": "of the future"},
    ]
    run = await ask(rig)
    steps = [(each.type, each.data["tool_name"]) for each in run.results if each.type.startswith("tool.")]
    assert steps == [
        ("tool.call.started", "search"),
        ("tool.call.completed", "search"),
        ("tool.call.started", "Plan"),
        ("tool.call.completed", "Plan"),
    ]
    assert run.status == "completed"


async def test_a_final_text_replaces_the_fragments(rig: ToyRig) -> None:
    rig.service.extra = [{"event": "final", "text": "Hello there, corrected"}]
    assert (await ask(rig)).text == "Hello there, corrected"


async def test_one_answer_may_have_several_messages(rig: ToyRig) -> None:
    rig.service.extra = [{"event": "message_end"}, {"event": "text", "text": "Second"}]
    assert [each.content for each in (await ask(rig)).messages] == ["Hello there", "Second"]


async def test_a_question_is_shown_and_the_next_message_answers_it(rig: ToyRig) -> None:
    host = FakeHost()
    rig.service.extra = [{"event": "question", "text": "Which one?", "options": ["red", "blue"], "form": "f-9"}]
    run = await ask(rig, host)
    assert [each.content for each in run.messages] == ["Hello there", "Which one?\n- red\n- blue"]
    assert run.messages[-1].metadata == {"question": {"options": ["red", "blue"]}}
    rig.service.extra = []
    for said in ("red", "thanks"):
        assert (await ask(rig, host, said)).status == "completed"
    assert [each.json.get("form") for each in rig.answered()] == [None, "f-9", None]
    assert rig.session_of(rig.answered()[1]) == rig.session_of(rig.answered()[2])


async def test_an_answer_to_a_question_that_was_not_accepted_can_be_repeated(rig: ToyRig) -> None:
    host = FakeHost()
    rig.service.extra = [{"event": "question", "text": "Which one?", "options": [], "form": "f-9"}]
    await ask(rig, host)
    rig.service.extra = []
    rig.service.fail(status(503))
    assert (await ask(rig, host, "red")).failed_with("toy.unavailable")
    await ask(rig, host, "red")
    assert [each.json.get("form") for each in rig.answered()] == [None, "f-9", "f-9"]


async def test_an_error_event_keeps_the_text_and_shows_the_message_of_the_service(rig: ToyRig) -> None:
    rig.service.extra = [{"event": "error", "message": f"no credit for {rig.key}"}]
    run = await ask(rig)
    assert (run.code, run.error) == ("toy.upstream", "Toy reported an error. (no credit for ***)")
    assert run.text == "Hello there"


async def test_an_error_event_about_the_session_starts_a_new_one_once(rig: ToyRig) -> None:
    host = FakeHost()
    await ask(rig, host)
    rig.service.pieces = []
    rig.service.extra = [{"event": "error", "code": "conversation", "message": "gone"}]
    run = await ask(rig, host)
    assert run.code == "toy.not_found"
    assert [rig.session_of(each) for each in rig.answered()] == [None, "c-1", None]


async def test_an_event_of_another_form_fails_the_run(rig: ToyRig) -> None:
    rig.service.extra = [{"no event": 1}]
    assert (await ask(rig)).failed_with("toy.protocol")


async def test_keep_alive_signals_do_not_count_as_the_first_event(rig: ToyRig) -> None:
    class Pinging(ToyService):
        def chat(self, body: dict[str, Any]) -> StreamReply:
            return StreamReply([b": alive\n\n"] * 5 + [{"event": "ping"}, b": the last\n\n", END])

    async with ToyRig() as other:
        other.service.__class__ = Pinging
        other.service.fail(stall(after=": the last"))
        run = await ask(other, config={"idle_timeout": 30, "first_event_timeout": 0.3})
    assert run.failed_with("toy.timeout")


async def test_the_sentence_of_a_failure_is_in_the_language_of_the_user(rig: ToyRig) -> None:
    rig.service.fail(status(429, {"message": ""}, {"Retry-After": "5"}))
    context = {"runtime": {"trace_id": "t", "attempt": 1, "locale": "zh_Hans"}}
    run = await ask(rig, context=context)
    assert run.error == "Toy 请求过多，请在 5 秒后重试。（HTTP 429）"
    assert all(len(texts) == 2 for texts in SENTENCES.values())


async def test_the_user_of_a_private_chat_has_one_opaque_id(rig: ToyRig) -> None:
    host = FakeHost()
    await ask(rig, host)
    await ask(rig, host)
    host.new_conversation()
    await ask(rig, host)
    await ask(rig, host, actor=Actor(actor_type="user", actor_id="another"))
    first, second, third, fourth = (each.json["user"] for each in rig.answered())
    assert first == second == third
    assert len(first) == 34
    assert fourth == first, "a conversation keeps the user it was begun with"


async def test_another_address_or_app_starts_another_session(rig: ToyRig) -> None:
    host = FakeHost()
    for app in ("demo", "demo", "other", "other", "demo"):
        await ask(rig, host, config={"app_id": app})
    assert [rig.session_of(each) for each in rig.answered()] == [None, "c-1", None, "c-4", None]


async def test_a_file_that_is_missing_costs_no_text(rig: ToyRig) -> None:
    rig.service.extra = [{"event": "file", "name": "lost.png", "url": "/files/none"}]
    run = await ask(rig)
    assert run.text == "Hello there"
    assert run.messages[0].metadata == {"missing_files": ["lost.png"]}


@pytest.mark.parametrize(
    "url", ["http://127.0.0.2:9/x", "http://localhost:1/x", "http://[::1]:9/x", "file:///etc/hosts"]
)
async def test_a_file_in_a_private_network_is_not_fetched(
    rig: ToyRig, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    rig.service.extra = [{"event": "file", "name": "secret", "url": url}]
    with caplog.at_level(logging.WARNING):
        run = await ask(rig)
    assert run.artifacts == []
    assert run.messages[0].metadata == {"missing_files": ["secret"]}
    assert "private network" in caplog.text or "no HTTP address" in caplog.text


async def test_a_large_file_is_stored_in_chunks(rig: ToyRig) -> None:
    content = b"x" * (2 * 1024 * 1024)
    rig.offer_file("large.bin", content)
    run = await ask(rig)
    assert [len(each.content) for each in run.artifacts] == [len(content)]
    assert [ref.name for ref in run.messages[0].artifact_refs or []] == ["large.bin"]


async def test_too_many_files_are_refused_before_a_request(rig: ToyRig) -> None:
    files: list[ContentElement] = [MediaElement(type="file", name=f"{n}", content_base64="eA==") for n in range(11)]
    run = await ask(rig, said=files)
    assert run.failed_with("toy.input")
    assert rig.service.requests == []


async def test_a_message_without_content_is_answered_with_silence(rig: ToyRig) -> None:
    assert (await ask(rig, said=" ")).silent


async def test_a_redirect_is_not_followed_with_the_key(rig: ToyRig) -> None:
    async with ToyService() as other:
        rig.service.fail(status(307, {}, {"Location": f"{other.url}/chat"}))
        assert (await ask(rig)).failed_with("toy.config")
        assert other.requests == []


async def test_the_key_is_in_no_log(rig: ToyRig, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for fault in (status(401, {"message": f"bad key {rig.key}"}), cut()):
            rig.service.fail(fault)
            assert (await ask(rig)).status == "failed"
    assert rig.key not in caplog.text


@pytest.mark.parametrize(
    ("change", "code", "text"),
    [
        ({}, "", "Toy has the app Demo."),
        ({"app_id": "none"}, "toy.not_found", "there is no such thing"),
        ({"base_url": ""}, "toy.config", "base_url: a value is required"),
        ({"base_url": "http://127.0.0.1:1"}, "toy.unavailable", "http://127.0.0.1:1"),
    ],
)
async def test_test_connection_says_what_is_wrong(rig: ToyRig, change: dict[str, Any], code: str, text: str) -> None:
    runner: Any = load_runners(read_plugin(rig.plugin))["default"]
    check = await runner.test_connection({**rig.config(), **change})
    assert (check.code, check.ok) == (code, not code)
    assert text in check.message


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({}, "base_url"),
        ({"base_url": "ftp://x"}, "http://"),
        ({"base_url": "https://user:pass@x"}, "without a user name"),
        ({"base_url": "https://x", "idle_timeout": 0}, "idle_timeout"),
        ({"base_url": "https://x", "proxy": "gopher://secret"}, "proxy"),
    ],
)
def test_an_invalid_setting_is_named_and_its_value_is_not_shown(values: dict[str, Any], named: str) -> None:
    with pytest.raises(ServiceFailure) as raised:
        read_config(HttpAgentConfig, values)
    assert raised.value.reason == "config"
    assert named in raised.value.detail
    assert "secret" not in raised.value.detail
    assert "user:pass" not in raised.value.detail


def test_empty_settings_have_their_defaults() -> None:
    config = read_config(HttpAgentConfig, {"base_url": " https://x/v1/ ", "proxy": "", "idle_timeout": None})
    assert (config.base_url, config.proxy, config.idle_timeout) == ("https://x/v1", None, 60)

"""OpenAI's dialect: requests that are sent, and recorded answers that are parsed."""

import pytest

from parlour.providers.models.dialects import rerank
from parlour.providers.models.dialects.anthropic import Anthropic
from parlour.providers.models.dialects.base import ModelDialect
from parlour.providers.models.dialects.common import ToolNames
from parlour.providers.models.dialects.gemini import Gemini
from parlour.providers.models.dialects.openai import OpenAI
from parlour.providers.models.errors import ModelCallFailure
from parlour_sdk.protocol.models import Embed, Rerank
from parlour_sdk.protocol.usage import Usage

from .asking import DIALOGUE, PICTURE, TOOL, body, called, read, request

DIALECT = OpenAI()


def test_a_dialogue_with_a_picture_and_a_tool_becomes_an_openai_request() -> None:
    sent_body = body(DIALECT, request(DIALOGUE, tools=[TOOL]))
    assert sent_body["model"] == "the-model"
    assert sent_body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "time_now", "arguments": '{"zone":"UTC"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "noon"},
    ]
    assert [tool["function"]["name"] for tool in sent_body["tools"]] == ["time_now"]
    assert (sent_body["stream"], sent_body["stream_options"]) == (True, {"include_usage": True})


def test_parameters_of_the_model_apply_unless_the_request_overrides_them() -> None:
    extra = {"temperature": 1, "response_format": {"type": "json_object"}}
    sent = body(DIALECT, request(extra=extra), parameters={"temperature": 0, "top_p": 0.5})
    assert (sent["temperature"], sent["top_p"], sent["response_format"]) == (
        1,
        0.5,
        {"type": "json_object"},
    )


@pytest.mark.parametrize("word", ["max_tokens", "max_completion_tokens"])
def test_the_limit_of_an_answer_uses_the_parameter_of_the_service(word: str) -> None:
    sent_body = body(DIALECT, request(extra={"max_tokens": 5}), limit_word=word)
    assert sent_body[word] == 5


@pytest.mark.parametrize(("returns", "expected"), [(True, "hm"), (False, None)])
def test_reasoning_is_sent_back_only_to_services_that_expect_it(returns: bool, expected: str | None) -> None:
    thought = {"role": "assistant", "reasoning": "hm", "tool_calls": [{"id": "1", "name": "t"}]}
    sent_body = body(DIALECT, request([thought]), returns_reasoning=returns)
    assert sent_body["messages"][0].get("reasoning_content") == expected


def test_unsupported_elements_are_described_as_text() -> None:
    quote = {"type": "quote", "sender": "Ann", "contents": [{"type": "text", "text": "hi"}]}
    mention = {"type": "mention", "user_id": "7", "name": "Bob"}
    file = {**PICTURE, "type": "file", "name": "a.bin"}
    sent_body = body(DIALECT, request([{"role": "user", "content": [quote, mention, file]}]))
    assert sent_body["messages"][0]["content"] == "> Ann: hi\n@Bob[file: a.bin]"


def test_streamed_tool_calls_are_put_together() -> None:
    answer = DIALECT.response_parser()
    piece = read(answer, "openai_tools.sse")
    calls = answer.calls.complete(ToolNames(["time.now", "weather"]))
    assert [(call.id, call.name, call.arguments) for call in calls] == [
        ("call_a", "time.now", {"zone": "UTC"}),
        ("call_b", "weather", {}),
    ]
    assert piece.finish_reason == "tool_calls"
    assert piece.usage == Usage(prompt_tokens=81, completion_tokens=33, cached_tokens=64, reasoning_tokens=12)


def test_streamed_reasoning_is_separate_from_the_answer() -> None:
    piece = read(DIALECT.response_parser(), "deepseek_reasoning.sse")
    assert (piece.reasoning, piece.text, piece.finish_reason) == ("两个数相加", "4", "stop")
    assert piece.usage == Usage(prompt_tokens=11, completion_tokens=9, cached_tokens=8)


def test_arguments_that_are_no_json_stay_text() -> None:
    answer = DIALECT.response_parser()
    call = {"index": 0, "id": "1", "function": {"name": "t", "arguments": "{broken"}}
    answer.parse_event({"choices": [{"delta": {"tool_calls": [call]}}]})
    assert answer.calls.complete(ToolNames([]))[0].arguments == "{broken"


@pytest.mark.parametrize("event", [{"error": {"message": "overloaded"}}, {"code": 7, "message": "overloaded"}])
def test_an_error_in_place_of_an_answer_is_raised(event: object) -> None:
    with pytest.raises(ModelCallFailure, match="overloaded"):
        DIALECT.response_parser().parse_event(event)
    with pytest.raises(ModelCallFailure, match="overloaded"):
        DIALECT.response_parser().parse_whole(event)


@pytest.mark.parametrize("dialect", [OpenAI(), Anthropic(), Gemini()], ids=lambda each: type(each).__name__)
def test_no_parameter_changes_the_model_or_the_messages(dialect: ModelDialect) -> None:
    extra = {"model": "dear", "messages": ["x"], "contents": ["x"], "stream": False}
    assert body(dialect, request(extra=extra)) == body(dialect, request())


def test_a_parameter_that_is_set_to_null_is_left_out() -> None:
    assert "stream_options" not in body(DIALECT, request(), parameters={"stream_options": None})


def test_embeddings_come_in_the_order_of_the_texts() -> None:
    http_request = DIALECT.embed(called("openai"), Embed(call_id="1", model_id="m", texts=["a", "b"]))
    assert http_request.body["input"] == ["a", "b"]
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]
    assert DIALECT.parse_embeddings({"data": data, "usage": {"prompt_tokens": 4}}) == (
        [[1.0], [2.0]],
        Usage(prompt_tokens=4),
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
        {"results": [{"index": 0, "score": 0.1}, {"index": 1, "score": 0.9}, {"index": 9, "score": 1.0}]},
        {"output": {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}},
        {"data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]},
    ],
)
def test_ranks_are_read_in_every_known_form(answer: object) -> None:
    model_request = Rerank(call_id="1", model_id="m", query="q", documents=["a", "b"], top_k=2)
    assert [(each.index, each.score) for each in rerank.parse_scores(answer, model_request)] == [(1, 0.9), (0, 0.1)]

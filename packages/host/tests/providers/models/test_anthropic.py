"""Anthropic's dialect: requests that are sent, and recorded answers that are parsed."""

import pytest

from parlour.providers.models.dialects import reasoning
from parlour.providers.models.dialects.anthropic import JSON_ONLY, Anthropic
from parlour.providers.models.dialects.common import ToolNames
from parlour.providers.models.errors import ModelCallFailure
from parlour_sdk.protocol.models import Embed
from parlour_sdk.protocol.usage import Usage

from .asking import DIALOGUE, TOOL, body, called, read, request

DIALECT = Anthropic()
CACHED = {"cache_control": {"type": "ephemeral"}}
"""What marks the end of a part that later requests begin with."""


def test_a_dialogue_with_a_picture_and_a_tool_becomes_an_anthropic_request() -> None:
    sent_body = body(DIALECT, request(DIALOGUE, tools=[TOOL]), max_output_tokens=9)
    assert (sent_body["system"], sent_body["max_tokens"]) == ([{"type": "text", "text": "Be brief.", **CACHED}], 9)
    assert sent_body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}, **CACHED},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "time_now", "input": {"zone": "UTC"}},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "noon", **CACHED}]},
    ]
    assert sent_body["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert sent_body["tools"][0]["input_schema"] == TOOL["parameters_schema"]


def test_results_of_several_tools_are_one_turn() -> None:
    results = [{"role": "tool", "tool_call_id": name, "content": name} for name in "ab"]
    turns = body(DIALECT, request([{"role": "user", "content": "go"}, *results]))["messages"]
    assert [len(turn["content"]) for turn in turns] == [3]


def test_a_tool_that_failed_is_marked_as_an_error() -> None:
    failed = {"role": "tool", "tool_call_id": "a", "content": "Error: no", "metadata": {"is_error": True}}
    fine = {"role": "tool", "tool_call_id": "b", "content": "yes"}
    [turn] = body(DIALECT, request([failed, fine]))["messages"]
    assert [each.get("is_error") for each in turn["content"]] == [True, None]


def test_parameters_of_other_services_are_translated_or_left_out() -> None:
    extra = {"stop": "END", "seed": 1, "max_tokens": 7, "tool_choice": "required", "top_k": 3}
    sent = body(DIALECT, request(extra=extra))
    assert (sent["stop_sequences"], sent["max_tokens"], sent["tool_choice"]) == (
        ["END"],
        7,
        {"type": "any"},
    )
    assert sent["top_k"] == 3
    assert not {"stop", "seed"} & set(sent)


def test_json_output_is_requested_by_schema_or_by_instruction() -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    by_schema = body(DIALECT, request(extra={"response_format": schema}))
    assert by_schema["output_config"]["format"]["schema"] == {"type": "object"}
    assert body(DIALECT, request(extra={"response_format": {"type": "json_object"}}))["system"][0]["text"] == JSON_ONLY


def test_a_streamed_answer_is_put_together() -> None:
    answer = DIALECT.response_parser()
    piece = read(answer, "anthropic_tools.sse")
    assert (piece.reasoning, piece.text) == ("The user wants the time.", "Let me look.")
    assert (piece.finish_reason, piece.done) == ("tool_calls", True)
    assert piece.usage == Usage(prompt_tokens=55, completion_tokens=42, cached_tokens=30)
    [call] = answer.calls.complete(ToolNames(["time.now"]))
    assert (call.id, call.name, call.arguments) == ("toolu_1", "time.now", {"zone": "UTC"})


def test_signed_reasoning_is_sent_back_before_the_tool_calls_it_belongs_to() -> None:
    answer = DIALECT.response_parser()
    read(answer, "anthropic_tools.sse")
    signed = [{"type": "thinking", "thinking": "The user wants the time.", "signature": "c2ln"}]
    assert answer.signed_reasoning == signed
    mine = reasoning.to_metadata(called("anthropic"), answer.signed_reasoning)
    calling = {"role": "assistant", "tool_calls": [{"id": "c", "name": "n"}], "metadata": mine}
    [turn] = body(DIALECT, request([calling]))["messages"]
    assert [each["type"] for each in turn["content"]] == ["thinking", "tool_use"]
    assert turn["content"][0] == signed[0]
    others = {"thoughts": {"of": "anthropic/another-model", "signed": signed}}
    for strange in (others, {"thoughts": 5}, {"thoughts": {"of": "anthropic/the-model", "signed": ["text"]}}, {}):
        [turn] = body(DIALECT, request([{**calling, "metadata": strange}]))["messages"]
        assert [each["type"] for each in turn["content"]] == ["tool_use"]


def test_redacted_reasoning_is_sent_back_unchanged() -> None:
    answer = DIALECT.response_parser()
    blocks = [{"type": "redacted_thinking", "data": "xyz"}, {"type": "tool_use", "id": "t", "name": "n", "input": {}}]
    answer.parse_whole({"content": blocks, "stop_reason": "tool_use"})
    assert answer.signed_reasoning == [blocks[0]]


def test_an_unstreamed_answer_is_parsed() -> None:
    answer = DIALECT.response_parser()
    blocks = [{"type": "text", "text": "4"}, {"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1}}]
    usage = {"input_tokens": 3, "output_tokens": 1}
    piece = answer.parse_whole({"content": blocks, "stop_reason": "end_turn", "usage": usage})
    assert (piece.text, piece.finish_reason, piece.usage) == ("4", "stop", Usage(prompt_tokens=3, completion_tokens=1))
    assert answer.calls.complete(ToolNames([]))[0].arguments == {"a": 1}


def test_an_error_inside_a_stream_is_raised() -> None:
    with pytest.raises(ModelCallFailure, match="Overloaded"):
        DIALECT.response_parser().parse_event(
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
        )


def test_embedding_is_refused_as_not_supported() -> None:
    with pytest.raises(ModelCallFailure) as refused:
        DIALECT.embed(called("anthropic"), Embed(call_id="1", model_id="m", texts=["a"]))
    assert refused.value.code == "not_supported"

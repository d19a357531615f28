"""Gemini's dialect: requests that are sent, and recorded answers that are parsed."""

import pytest

from parlour.providers.models.dialects import reasoning
from parlour.providers.models.dialects.common import ToolNames
from parlour.providers.models.dialects.gemini import MISSING_SIGNATURE, Gemini
from parlour.providers.models.errors import ModelCallFailure
from parlour_sdk.protocol.models import Embed
from parlour_sdk.protocol.usage import Usage

from .asking import DIALOGUE, TOOL, body, called, read, request

DIALECT = Gemini()


def test_a_dialogue_with_a_picture_and_a_tool_becomes_a_gemini_request() -> None:
    sent_body = body(DIALECT, request(DIALOGUE, tools=[TOOL]))
    assert sent_body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert sent_body["contents"] == [
        {
            "role": "user",
            "parts": [{"text": "What is this?"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
        },
        {
            "role": "model",
            "parts": [
                {"text": "I look."},
                {"functionCall": {"name": "time_now", "args": {"zone": "UTC"}}, "thoughtSignature": MISSING_SIGNATURE},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "time_now", "response": {"output": "noon"}}}]},
    ]
    assert sent_body["tools"][0]["functionDeclarations"][0]["name"] == "time_now"


def test_the_signature_of_a_call_is_sent_back_with_it() -> None:
    answer = DIALECT.response_parser()
    parts = [
        {"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "b", "args": {}}},
    ]
    answer.parse_event({"candidates": [{"content": {"parts": parts}}]})
    mine = reasoning.to_metadata(called("gemini"), answer.signed_reasoning)
    calls = [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}]
    [turn] = body(DIALECT, request([{"role": "assistant", "tool_calls": calls, "metadata": mine}]))["contents"]
    assert [part.get("thoughtSignature") for part in turn["parts"]] == ["c2ln", None]


def test_the_model_is_named_in_the_path() -> None:
    http_request = DIALECT.chat(called("gemini"), request(), ToolNames([]), stream=True)
    assert http_request.path == "/v1beta/models/the-model:streamGenerateContent?alt=sse"
    assert DIALECT.chat(called("gemini"), request(), ToolNames([]), stream=False).path.endswith(":generateContent")


def test_settings_are_sent_in_the_fields_of_gemini() -> None:
    schema = {"type": "json_schema", "json_schema": {"schema": {"type": "object"}}}
    extra = {"max_tokens": 7, "stop": "END", "response_format": schema, "tool_choice": "required"}
    sent_body = body(DIALECT, request(extra=extra), parameters={"temperature": 0})
    assert sent_body["generationConfig"] == {
        "temperature": 0,
        "maxOutputTokens": 7,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
    }
    assert sent_body["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}


def test_a_streamed_answer_is_put_together() -> None:
    answer = DIALECT.response_parser()
    piece = read(answer, "gemini_tools.sse")
    assert (piece.reasoning, piece.text, piece.finish_reason) == ("I should look.", "One moment.", "tool_calls")
    assert piece.usage == Usage(prompt_tokens=7, completion_tokens=16, cached_tokens=2, reasoning_tokens=5)
    [call] = answer.calls.complete(ToolNames(["time.now"]))
    assert (call.id[:5], call.name, call.arguments) == ("call_", "time.now", {"zone": "UTC"})
    assert call.id != answer.calls.complete(ToolNames(["time.now"]))[0].id


def test_a_blocked_prompt_finishes_with_content_filter() -> None:
    assert (
        DIALECT.response_parser().parse_whole({"promptFeedback": {"blockReason": "SAFETY"}}).finish_reason
        == "content_filter"
    )


def test_an_answer_of_another_form_is_an_error() -> None:
    with pytest.raises(ModelCallFailure, match="candidates"):
        DIALECT.response_parser().parse_whole({"hello": 1})


def test_texts_are_embedded_in_one_request() -> None:
    http_request = DIALECT.embed(called("gemini"), Embed(call_id="1", model_id="m", texts=["a", "b"]))
    assert http_request.path.endswith(":batchEmbedContents")
    assert [each["content"]["parts"][0]["text"] for each in http_request.body["requests"]] == ["a", "b"]
    assert DIALECT.parse_embeddings({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]})[0] == [[1.0], [2.0]]

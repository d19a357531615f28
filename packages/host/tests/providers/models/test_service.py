"""A model service that fails in every way: each failure has one readable message, and only safe calls are retried."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

import pytest

from parlour.core.model.model_config import Model, Provider
from parlour.core.model.providers import ProviderFailed
from parlour.core.models.catalogue import ModelServiceKind
from parlour.providers.models.dialects.base import ResponseChunk
from parlour.providers.models.provider_client import ProviderClient
from parlour.providers.models.timeouts import ModelTimeouts
from parlour.testing.model_server import Endless, ModelServer, Raw, Refuse, Say, ScriptedAnswer, event
from parlour_sdk.protocol.models import Embed, Rerank

from .asking import TOOL, request

MODEL = Model("m", "p", "fake")
KIND = ModelServiceKind("openai-compatible", "Any", "openai")
FIRST = event({"content": "one "})
STALL = Raw(FIRST, then="stall")

Make = Callable[..., ProviderClient]


@pytest.fixture(scope="module")
def shared() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def server(shared: ModelServer) -> ModelServer:
    shared.forget()
    return shared


@pytest.fixture
async def make(server: ModelServer) -> AsyncIterator[Make]:
    made: list[ProviderClient] = []

    def make(*keys: str, address: str = "", **timeouts: Any) -> ProviderClient:
        provider = Provider("p", "Fake", KIND.kind, address or f"{server.address}/v1")
        made.append(ProviderClient(provider, KIND, keys, ModelTimeouts(**{"first_pause": 0.01, **timeouts})))
        return made[-1]

    yield make
    for service in made:
        await service.close()


async def streamed(service: ProviderClient, **fields: Any) -> list[ResponseChunk]:
    async with aclosing(service.stream(MODEL, request(**fields))) as pieces:
        return [piece async for piece in pieces]


async def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """Polls the condition, since the server runs in another thread without notifications."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "the condition was never met"
        await asyncio.sleep(0.01)


async def failure(service: ProviderClient, stream: bool = True) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as failed:
        await (streamed(service) if stream else service.invoke(MODEL, request()))
    return failed.value


async def test_an_answer_is_streamed_and_ends_with_its_usage(server: ModelServer, make: Make) -> None:
    server.will(Say("one two three", gap=0.05))
    *pieces, last = await streamed(make("key"))
    assert "".join(piece.text for piece in pieces) == "one two three"
    assert len(pieces) == 3
    assert (last.done, last.finish_reason) == (True, "stop")
    assert last.usage is not None
    assert last.usage.prompt_tokens == 10
    assert server.requests[0].headers["Authorization"] == "Bearer key"
    assert server.requests[0].path == "/v1/chat/completions"


async def test_events_that_arrive_together_are_one_chunk(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST * 5 + event({}, "stop") + b"data: [DONE]\n\n"))
    pieces = await streamed(make())
    assert [piece.text for piece in pieces] == ["one " * 5, ""]


async def test_streamed_tool_calls_and_reasoning_are_read(server: ModelServer, make: Make) -> None:
    calls = [
        {"index": 0, "id": "c", "function": {"name": "time_now", "arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]
    server.will(Say("", reasoning="hm", tool_calls=calls))
    first, last = await streamed(make(), tools=[TOOL])
    assert first.reasoning == "hm"
    assert [(call.name, call.arguments) for call in last.tool_calls] == [("time.now", {"a": 1})]
    assert last.finish_reason == "tool_calls"


async def test_an_unstreamed_answer_to_a_stream_request_is_read(server: ModelServer, make: Make) -> None:
    server.will(Raw(b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}', "application/json"))
    first, last = await streamed(make())
    assert (first.text, last.finish_reason) == ("hi", "stop")


async def test_an_answer_ends_with_its_last_event_and_not_with_the_connection(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST + event({}, "stop") + b"data: [DONE]\n\n", then="stall"))
    pieces = await streamed(make())
    assert [(piece.text, piece.done) for piece in pieces] == [("one ", False), ("", True)]


async def test_connections_are_reused(server: ModelServer, make: Make) -> None:
    service = make()
    server.connections.clear()
    for _ in range(3):
        await streamed(service)
        await service.invoke(MODEL, request())
    assert len(server.connections) == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("behaviour", "code", "message", "tries"),
    [
        (Refuse(400, "bad picture"), "invalid_argument", "Fake refused the request (400): bad picture", 1),
        (Refuse(401, "who?"), "key_refused", "Fake does not accept the API key (401): who?", 1),
        (Refuse(402), "no_credit", "Fake wants to be paid first (402): as told", 1),
        (Refuse(404), "model_unknown", "check the model's name 'fake' and the provider's base_url", 1),
        (Refuse(408), "provider_timeout", "Fake took too long to answer (408): as told", 3),
        (Refuse(429), "rate_limited", "Fake gets too many requests (429): as told", 3),
        (Refuse(500), "provider_failed", "Fake failed (500): as told", 3),
        (Refuse(302, headers={"Location": "http://else"}), "provider_failed", "Fake points to http://else", 1),
        (Raw(b"<html><p>Welcome</p></html>", "text/html"), "answer_malformed", "answered with a web page", 1),
        (Raw(b"", "text/html", "cut"), "stream_cut", "broke its answer off", 3),
        (Raw(b"", "application/json"), "answer_malformed", "Fake gave an empty answer", 3),
    ],
    ids=lambda value: f"{value.status}" if isinstance(value, Refuse) else None,
)
async def test_a_refusal_has_a_one_line_message_and_is_retried_only_if_that_may_help(
    server: ModelServer, make: Make, behaviour: ScriptedAnswer, code: str, message: str, tries: int, stream: bool
) -> None:
    server.will(*[behaviour] * 3)
    failed = await failure(make("key"), stream)
    assert failed.code == code
    assert message in failed.message
    assert "\n" not in failed.message
    assert len(server.requests) == tries


@pytest.mark.parametrize(
    ("behaviour", "code", "message"),
    [
        (Raw(FIRST, then="cut"), "stream_cut", "broke its answer off in the middle"),
        (Raw(FIRST), "stream_cut", "broke its answer off in the middle"),
        (Raw(FIRST + b"data: {nonsense\n\n"), "answer_malformed", "sent an event that is not JSON"),
        (Raw(FIRST + b'data: {"error": {"message": "worn out"}}\n\n'), "provider_failed", "answering: worn out"),
        (STALL, "provider_timeout", "went silent for"),
        (Endless(), "answer_too_large", "more than 100,000 bytes, which was ended there"),
    ],
)
async def test_an_answer_that_fails_after_its_start_is_not_retried(
    server: ModelServer, make: Make, behaviour: ScriptedAnswer, code: str, message: str
) -> None:
    server.will(behaviour)
    timeouts = {"stall": 0.3} if behaviour == STALL else {"answer_bytes": 100_000}
    failed = await failure(make("key", **timeouts))
    assert failed.code == code
    assert message in failed.message
    assert len(server.requests) == 1


async def test_an_answer_that_is_too_large_in_its_first_block_is_not_retried(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST * 100))
    failed = await failure(make("key", answer_bytes=1000))
    assert (failed.code, failed.retryable, len(server.requests)) == ("answer_too_large", False, 1)


async def test_chunks_before_a_failure_are_delivered(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST, then="cut"))
    async with aclosing(make().stream(MODEL, request())) as pieces:
        assert (await anext(pieces)).text == "one "
        with pytest.raises(ProviderFailed):
            await anext(pieces)


async def test_a_service_without_a_first_token_times_out(server: ModelServer, make: Make) -> None:
    server.will(Raw(b"", then="stall"))
    failed = await failure(make(first_token=0.3, attempts=1))
    assert failed.code == "provider_timeout"


async def test_an_answer_beyond_the_total_time_is_ended(server: ModelServer, make: Make) -> None:
    server.will(Say("word " * 1000, gap=0.05))
    failed = await failure(make(total=0.5))
    assert (failed.code, "was not done" in failed.message) == ("provider_timeout", True)


async def test_a_retry_follows_the_retry_after_header(server: ModelServer, make: Make) -> None:
    server.will(Refuse(429, headers={"Retry-After": "0"}), Refuse(503, headers={"Retry-After": "0.01"}), Say("well"))
    pieces = await streamed(make("key"))
    assert (pieces[0].text, len(server.requests)) == ("well", 3)


async def test_a_long_retry_after_is_not_waited_for(server: ModelServer, make: Make) -> None:
    server.will(Refuse(429, headers={"Retry-After": "3600"}))
    failed = await failure(make("key"))
    assert (failed.code, failed.retryable, len(server.requests)) == ("rate_limited", True, 1)


@pytest.mark.parametrize("status", [401, 429])
async def test_after_a_refused_or_limited_key_the_next_one_is_used_and_kept(
    server: ModelServer, make: Make, status: int
) -> None:
    server.will(Refuse(status))
    service = make("first", "second")
    await streamed(service)
    await streamed(service)
    keys = [each.headers["Authorization"].removeprefix("Bearer ") for each in server.requests]
    assert keys == ["first", "second", "second"]


async def test_each_key_is_tried_once_if_all_are_refused(server: ModelServer, make: Make) -> None:
    server.will(Refuse(401), Refuse(401))
    failed = await failure(make("first", "second"))
    assert (failed.code, len(server.requests)) == ("key_refused", 2)


async def test_a_key_in_the_answer_of_a_service_is_masked(server: ModelServer, make: Make) -> None:
    server.will(Refuse(401, "Incorrect API key provided: sk-hidden"))
    assert "sk-hidden" not in (await failure(make("sk-hidden"))).message


async def test_a_closed_stream_is_ended_at_the_service(server: ModelServer, make: Make) -> None:
    server.will(Endless())
    pieces = make().stream(MODEL, request())
    await anext(pieces)
    await pieces.aclose()
    await until(lambda: server.abandoned)
    assert [piece async for piece in pieces] == []


async def test_a_cancelled_call_is_ended_at_the_service(server: ModelServer, make: Make) -> None:
    server.will(Raw(b"", then="stall"))
    model_request = asyncio.ensure_future(make().invoke(MODEL, request()))
    await until(lambda: server.requests)
    model_request.cancel()
    await until(lambda: server.abandoned)
    assert model_request.cancelled()


async def test_an_unreachable_service_is_reported_with_its_address(make: Make) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{probe.getsockname()[1]}"
    failed = await failure(make(address=address, attempts=1))
    assert (failed.code, address in failed.message) == ("provider_unreachable", True)


async def test_texts_are_embedded_and_documents_ranked(server: ModelServer, make: Make) -> None:
    vectors = b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}], "usage": {"prompt_tokens": 3}}'
    ranks = b'{"results": [{"index": 1, "relevance_score": 0.5}], "meta": {"tokens": {"input_tokens": 7}}}'
    server.will(Raw(vectors, "application/json"), Raw(ranks, "application/json"))
    service = make("key")
    found, used = await service.embed(MODEL, Embed(call_id="1", model_id="m", texts=["a"]))
    scores, ranked = await service.rerank(MODEL, Rerank(call_id="1", model_id="m", query="q", documents=["a", "b"]))
    assert (found, used and used.prompt_tokens) == ([[1.0, 2.0]], 3)
    assert ([(each.index, each.score) for each in scores], ranked and ranked.prompt_tokens) == ([(1, 0.5)], 7)
    assert [asked.path for asked in server.requests] == ["/v1/embeddings", "/v1/rerank"]


async def test_fewer_vectors_than_texts_are_an_error(server: ModelServer, make: Make) -> None:
    server.will(Raw(b'{"data": []}', "application/json"))
    with pytest.raises(ProviderFailed, match="0 vectors for 1 texts"):
        await make().embed(MODEL, Embed(call_id="1", model_id="m", texts=["a"]))

"""A real connection to a service that goes wrong in every way: one sentence each, and only what is safe again."""

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
from parlour.testing.model_server import Endless, ModelServer, Raw, Refuse, Say, Told, event
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

    def make(*keys: str, address: str = "", **patience: Any) -> ProviderClient:
        provider = Provider("p", "Fake", KIND.kind, address or f"{server.address}/v1")
        made.append(ProviderClient(provider, KIND, keys, ModelTimeouts(**{"first_pause": 0.01, **patience})))
        return made[-1]

    yield make
    for service in made:
        await service.close()


async def streamed(service: ProviderClient, **fields: Any) -> list[ResponseChunk]:
    async with aclosing(service.stream(MODEL, request(**fields))) as pieces:
        return [piece async for piece in pieces]


async def until(holds: Callable[[], object], seconds: float = 30) -> None:
    """The server is in another thread, which tells of nothing: it has to be asked."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came about"
        await asyncio.sleep(0.01)


async def failure(service: ProviderClient, stream: bool = True) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as failed:
        await (streamed(service) if stream else service.invoke(MODEL, request()))
    return failed.value


async def test_an_answer_streams_as_it_comes_and_ends_with_what_it_used(server: ModelServer, make: Make) -> None:
    server.will(Say("one two three", gap=0.05))
    *pieces, last = await streamed(make("key"))
    assert "".join(piece.text for piece in pieces) == "one two three"
    assert len(pieces) == 3
    assert (last.done, last.finish_reason) == (True, "stop")
    assert last.usage is not None
    assert last.usage.prompt_tokens == 10
    assert server.asked[0].headers["Authorization"] == "Bearer key"
    assert server.asked[0].path == "/v1/chat/completions"


async def test_what_comes_at_once_is_one_piece(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST * 5 + event({}, "stop") + b"data: [DONE]\n\n"))
    pieces = await streamed(make())
    assert [piece.text for piece in pieces] == ["one " * 5, ""]


async def test_streamed_tool_calls_and_thoughts_arrive(server: ModelServer, make: Make) -> None:
    calls = [
        {"index": 0, "id": "c", "function": {"name": "time_now", "arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ": 1}"}},
    ]
    server.will(Say("", reasoning="hm", tool_calls=calls))
    first, last = await streamed(make(), tools=[TOOL])
    assert first.reasoning == "hm"
    assert [(call.name, call.arguments) for call in last.tool_calls] == [("time.now", {"a": 1})]
    assert last.finish_reason == "tool_calls"


async def test_an_answer_that_was_not_streamed_is_understood(server: ModelServer, make: Make) -> None:
    server.will(Raw(b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}', "application/json"))
    first, last = await streamed(make())
    assert (first.text, last.finish_reason) == ("hi", "stop")


async def test_an_answer_is_over_when_the_service_says_so_and_not_when_it_hangs_up(
    server: ModelServer, make: Make
) -> None:
    server.will(Raw(FIRST + event({}, "stop") + b"data: [DONE]\n\n", then="stall"))
    pieces = await streamed(make())
    assert [(piece.text, piece.done) for piece in pieces] == [("one ", False), ("", True)]


async def test_connections_are_used_again(server: ModelServer, make: Make) -> None:
    service = make()
    server.connections.clear()
    for _ in range(3):
        await streamed(service)
        await service.invoke(MODEL, request())
    assert len(server.connections) == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("told", "code", "said", "tries"),
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
async def test_a_refusal_is_one_sentence_and_retried_only_when_that_may_help(
    server: ModelServer, make: Make, told: Told, code: str, said: str, tries: int, stream: bool
) -> None:
    server.will(*[told] * 3)
    failed = await failure(make("key"), stream)
    assert failed.code == code
    assert said in failed.message
    assert "\n" not in failed.message
    assert len(server.asked) == tries


@pytest.mark.parametrize(
    ("told", "code", "said"),
    [
        (Raw(FIRST, then="cut"), "stream_cut", "broke its answer off in the middle"),
        (Raw(FIRST), "stream_cut", "broke its answer off in the middle"),
        (Raw(FIRST + b"data: {nonsense\n\n"), "answer_malformed", "sent an event that is not JSON"),
        (Raw(FIRST + b'data: {"error": {"message": "worn out"}}\n\n'), "provider_failed", "answering: worn out"),
        (STALL, "provider_timeout", "went silent for"),
        (Endless(), "answer_too_large", "more than 100,000 bytes, which was ended there"),
    ],
)
async def test_an_answer_that_goes_wrong_is_not_asked_for_again(
    server: ModelServer, make: Make, told: Told, code: str, said: str
) -> None:
    server.will(told)
    patience = {"stall": 0.3} if told == STALL else {"answer_bytes": 100_000}
    failed = await failure(make("key", **patience))
    assert failed.code == code
    assert said in failed.message
    assert len(server.asked) == 1


async def test_what_came_before_an_answer_went_wrong_was_given(server: ModelServer, make: Make) -> None:
    server.will(Raw(FIRST, then="cut"))
    async with aclosing(make().stream(MODEL, request())) as pieces:
        assert (await anext(pieces)).text == "one "
        with pytest.raises(ProviderFailed):
            await anext(pieces)


async def test_a_service_that_never_begins_is_given_up(server: ModelServer, make: Make) -> None:
    server.will(Raw(b"", then="stall"))
    failed = await failure(make(first_token=0.3, attempts=1))
    assert failed.code == "provider_timeout"


async def test_an_answer_that_takes_too_long_in_all_is_ended(server: ModelServer, make: Make) -> None:
    server.will(Say("word " * 1000, gap=0.05))
    failed = await failure(make(total=0.5))
    assert (failed.code, "was not done" in failed.message) == ("provider_timeout", True)


async def test_a_retry_waits_as_long_as_the_service_wants(server: ModelServer, make: Make) -> None:
    server.will(Refuse(429, headers={"Retry-After": "0"}), Refuse(503, headers={"Retry-After": "0.01"}), Say("well"))
    pieces = await streamed(make("key"))
    assert (pieces[0].text, len(server.asked)) == ("well", 3)


async def test_a_service_that_wants_to_be_left_alone_for_long_is_not_waited_for(
    server: ModelServer, make: Make
) -> None:
    server.will(Refuse(429, headers={"Retry-After": "3600"}))
    failed = await failure(make("key"))
    assert (failed.code, failed.retryable, len(server.asked)) == ("rate_limited", True, 1)


@pytest.mark.parametrize("status", [401, 429])
async def test_another_key_is_tried_when_one_is_refused_or_limited_and_kept(
    server: ModelServer, make: Make, status: int
) -> None:
    server.will(Refuse(status))
    service = make("first", "second")
    await streamed(service)
    await streamed(service)
    keys = [asked.headers["Authorization"].removeprefix("Bearer ") for asked in server.asked]
    assert keys == ["first", "second", "second"]


async def test_when_every_key_is_refused_each_was_tried_once(server: ModelServer, make: Make) -> None:
    server.will(Refuse(401), Refuse(401))
    failed = await failure(make("first", "second"))
    assert (failed.code, len(server.asked)) == ("key_refused", 2)


async def test_a_key_that_a_service_repeats_is_not_told_on(server: ModelServer, make: Make) -> None:
    server.will(Refuse(401, "Incorrect API key provided: sk-hidden"))
    assert "sk-hidden" not in (await failure(make("sk-hidden"))).message


async def test_an_answer_that_is_left_is_ended_at_the_service(server: ModelServer, make: Make) -> None:
    server.will(Endless())
    pieces = make().stream(MODEL, request())
    await anext(pieces)
    await pieces.aclose()
    await until(lambda: server.let_go)


async def test_a_cancelled_call_is_ended_at_the_service(server: ModelServer, make: Make) -> None:
    server.will(Raw(b"", then="stall"))
    asked = asyncio.ensure_future(make().invoke(MODEL, request()))
    await until(lambda: server.asked)
    asked.cancel()
    await until(lambda: server.let_go)


async def test_a_service_that_is_not_there_is_told_with_its_address(make: Make) -> None:
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
    assert [asked.path for asked in server.asked] == ["/v1/embeddings", "/v1/rerank"]


async def test_fewer_vectors_than_texts_are_no_answer(server: ModelServer, make: Make) -> None:
    server.will(Raw(b'{"data": []}', "application/json"))
    with pytest.raises(ProviderFailed, match="0 vectors for 1 texts"):
        await make().embed(MODEL, Embed(call_id="1", model_id="m", texts=["a"]))

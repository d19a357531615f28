"""Models as they are configured: found, priced, counted where nobody counts, and followed when they are changed."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from dataclasses import replace

import pytest

from parlour.core.config.models import ModelRepository
from parlour.core.model.model_config import Model, Prices, Provider
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.secrets import SecretUnreadable
from parlour.core.system import SystemClock
from parlour.providers.models.catalogue import ShippedCatalogue
from parlour.providers.models.model_service import ConfiguredModels
from parlour.providers.models.timeouts import ModelTimeouts
from parlour.testing import MemoryJournal
from parlour.testing.model_server import ModelServer, Raw, Say, event

from .asking import request

ASKING = CallContext("plugin")
MODEL = Model("m", "p", "fake", max_output_tokens=100, prices=Prices(1, 2))


class Box:
    """Seals by turning round; what begins with `lost` can't be opened."""

    def seal(self, secret: str) -> str:
        return secret[::-1]

    def open(self, sealed: str) -> str:
        if sealed.startswith("lost"):
            raise SecretUnreadable
        return sealed[::-1]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def book(server: ModelServer) -> ModelRepository:
    server.forget()
    book = ModelRepository(MemoryJournal(), SystemClock())
    await book.put_provider(Provider("p", "Fake", "openai-compatible", f"{server.address}/v1", ("yek",)))
    await book.put_model(MODEL)
    return book


@pytest.fixture
async def models(book: ModelRepository) -> AsyncIterator[ConfiguredModels]:
    models = ConfiguredModels(book, ShippedCatalogue(), Box(), ModelTimeouts())
    yield models
    await models.close()


async def test_every_answer_tells_what_it_used_and_cost(models: ConfiguredModels, server: ModelServer) -> None:
    answer = await models.invoke(ASKING, request())
    assert (answer.message.content, answer.model_id, answer.finish_reason) == ("pong", "m", "stop")
    assert (answer.usage.prompt_tokens, answer.usage.cost_micros) == (10, 14)
    chunks = [chunk async for chunk in models.stream(ASKING, request())]
    assert [chunk.usage is not None for chunk in chunks] == [False, True]
    assert chunks[-1].usage == answer.usage
    assert server.asked[0].headers["Authorization"] == "Bearer key"


@pytest.mark.parametrize("stream", [True, False])
async def test_what_a_service_does_not_count_is_estimated(
    models: ConfiguredModels, server: ModelServer, stream: bool
) -> None:
    server.will(Say("twelve chars", usage=None))
    if stream:
        usage = [chunk async for chunk in models.stream(ASKING, request("eight ch"))][-1].usage
    else:
        usage = (await models.invoke(ASKING, request("eight ch"))).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_micros) == (2, 3, 8)


def test_the_worst_case_has_its_price(models: ConfiguredModels, book: ModelRepository) -> None:
    worst = models.max_usage(request("hello"))
    assert worst.completion_tokens == 100
    assert worst.cost_micros == worst.prompt_tokens + 200


async def test_a_changed_provider_is_followed_and_answers_under_way_end_well(
    models: ConfiguredModels, book: ModelRepository, server: ModelServer
) -> None:
    server.will(Say("one two three four", gap=0.05))
    async with aclosing(models.stream(ASKING, request())) as chunks:
        said = str((await anext(chunks)).chunk.content)
        provider = book.provider("p")
        assert provider is not None
        await book.put_provider(replace(provider, sealed_keys=("wen",)))
        await models.invoke(ASKING, request())
        async for chunk in chunks:
            said += str(chunk.chunk.content)
    assert said == "one two three four"
    assert server.asked[-1].headers["Authorization"] == "Bearer new"


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        (Model("other", "p", "x"), "not_found", "there is no model 'm'"),
        (replace(MODEL, type="embedding"), "invalid_argument", "is of type embedding, not llm"),
    ],
)
async def test_what_is_not_there_is_told(
    models: ConfiguredModels, book: ModelRepository, model: Model, code: str, said: str
) -> None:
    await book.remove_model("m")
    await book.put_model(model)
    with pytest.raises(ProviderFailed, match=said) as failed:
        await models.invoke(ASKING, request())
    assert failed.value.code == code


async def test_keys_that_can_not_be_read_are_told_with_what_to_do(
    models: ConfiguredModels, book: ModelRepository
) -> None:
    provider = book.provider("p")
    assert provider is not None
    await book.put_provider(replace(provider, sealed_keys=("lost",)))
    with pytest.raises(ProviderFailed, match="enter the secret anew") as failed:
        await models.invoke(ASKING, request())
    assert failed.value.code == "secret_unreadable"


async def test_thoughts_come_apart_from_words(models: ConfiguredModels, server: ModelServer) -> None:
    end = event({}, "stop") + b"data: [DONE]\n\n"
    server.will(Raw(event({"reasoning_content": "hm"}) + event({"content": "yes"}) + end))
    first, last = [chunk async for chunk in models.stream(ASKING, request())]
    assert (first.chunk.reasoning, first.chunk.content) == ("hm", "yes")
    assert (last.chunk.is_final, last.finish_reason) == (True, "stop")

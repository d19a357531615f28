"""Configured models are found, priced, estimated if the service counts no tokens, and follow changes."""

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


class ReversingSecretBox:
    """Seals a secret by reversing it; a sealed text that begins with `lost` can't be opened."""

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
async def repository(server: ModelServer) -> ModelRepository:
    server.forget()
    repository = ModelRepository(MemoryJournal(), SystemClock())
    await repository.put_provider(Provider("p", "Fake", "openai-compatible", f"{server.address}/v1", ("yek",)))
    await repository.put_model(MODEL)
    return repository


@pytest.fixture
async def models(repository: ModelRepository) -> AsyncIterator[ConfiguredModels]:
    models = ConfiguredModels(repository, ShippedCatalogue(), ReversingSecretBox(), ModelTimeouts())
    yield models
    await models.close()


async def test_every_answer_has_its_usage_and_cost(models: ConfiguredModels, server: ModelServer) -> None:
    answer = await models.invoke(ASKING, request())
    assert (answer.message.content, answer.model_id, answer.finish_reason) == ("pong", "m", "stop")
    assert (answer.usage.prompt_tokens, answer.usage.cost_micros) == (10, 14)
    chunks = [chunk async for chunk in models.stream(ASKING, request())]
    assert [chunk.usage is not None for chunk in chunks] == [False, True]
    assert chunks[-1].usage == answer.usage
    assert server.requests[0].headers["Authorization"] == "Bearer key"


@pytest.mark.parametrize("stream", [True, False])
async def test_usage_that_a_service_does_not_report_is_estimated(
    models: ConfiguredModels, server: ModelServer, stream: bool
) -> None:
    server.will(Say("twelve chars", usage=None))
    if stream:
        usage = [chunk async for chunk in models.stream(ASKING, request("eight ch"))][-1].usage
    else:
        usage = (await models.invoke(ASKING, request("eight ch"))).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cost_micros) == (2, 3, 8)


def test_the_worst_case_usage_has_a_cost(models: ConfiguredModels, repository: ModelRepository) -> None:
    worst = models.max_usage(request("hello"))
    assert worst.completion_tokens == 100
    assert worst.cost_micros == worst.prompt_tokens + 200


async def test_a_changed_provider_is_used_and_active_answers_finish(
    models: ConfiguredModels, repository: ModelRepository, server: ModelServer
) -> None:
    server.will(Say("one two three four", gap=0.05))
    async with aclosing(models.stream(ASKING, request())) as chunks:
        said = str((await anext(chunks)).chunk.content)
        provider = repository.provider("p")
        assert provider is not None
        await repository.put_provider(replace(provider, sealed_keys=("wen",)))
        await models.invoke(ASKING, request())
        async for chunk in chunks:
            said += str(chunk.chunk.content)
    assert said == "one two three four"
    assert server.requests[-1].headers["Authorization"] == "Bearer new"


@pytest.mark.parametrize(
    ("model", "code", "said"),
    [
        (Model("other", "p", "x"), "not_found", "there is no model 'm'"),
        (replace(MODEL, type="embedding"), "invalid_argument", "is of type embedding, not llm"),
    ],
)
async def test_a_missing_model_or_one_of_another_type_is_reported(
    models: ConfiguredModels, repository: ModelRepository, model: Model, code: str, said: str
) -> None:
    await repository.remove_model("m")
    await repository.put_model(model)
    with pytest.raises(ProviderFailed, match=said) as failed:
        await models.invoke(ASKING, request())
    assert failed.value.code == code


async def test_unreadable_keys_are_reported_with_the_remedy(
    models: ConfiguredModels, repository: ModelRepository
) -> None:
    provider = repository.provider("p")
    assert provider is not None
    await repository.put_provider(replace(provider, sealed_keys=("lost",)))
    with pytest.raises(ProviderFailed, match="enter the secret anew") as failed:
        await models.invoke(ASKING, request())
    assert failed.value.code == "secret_unreadable"


async def test_reasoning_is_separate_from_text(models: ConfiguredModels, server: ModelServer) -> None:
    end = event({}, "stop") + b"data: [DONE]\n\n"
    server.will(Raw(event({"reasoning_content": "hm"}) + event({"content": "yes"}) + end))
    first, last = [chunk async for chunk in models.stream(ASKING, request())]
    assert (first.chunk.reasoning, first.chunk.content) == ("hm", "yes")
    assert (last.chunk.is_final, last.finish_reason) == (True, "stop")

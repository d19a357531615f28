"""Provides the models that the operator configured: finds the backend of a model, and reports usage and cost of each
call.

Backends are created on first use, and again after their provider was changed.
"""

import asyncio
import importlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from parlour.core.asyncio_utils import BackgroundTasks
from parlour.core.config.models import ModelRepository
from parlour.core.model.ids import ModelId
from parlour.core.model.model_config import Model, ModelType, Provider
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import CallContext, ProviderFailed
from parlour.core.models.catalogue import MODERATION_DIALECTS, ModelCatalogue, ModelServiceKind
from parlour.core.secrets import SecretBox, SecretUnreadable
from parlour_sdk.protocol.messages import Message, MessageChunk
from parlour_sdk.protocol.models import (
    Embed,
    EmbedAnswer,
    InvokeModel,
    ModelAnswer,
    ModelChunk,
    Rerank,
    RerankAnswer,
    RerankScore,
)
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage

from .timeouts import ModelTimeouts

if TYPE_CHECKING:
    from .dialects.base import ResponseChunk


class ModelBackend(Protocol):
    """Backend that answers the calls of one provider."""

    async def close(self) -> None: ...

    async def invoke(self, model: Model, request: InvokeModel) -> "ResponseChunk": ...

    def stream(self, model: Model, request: InvokeModel) -> "AsyncGenerator[ResponseChunk, None]": ...

    async def embed(self, model: Model, request: Embed) -> tuple[list[list[float]], Usage | None]: ...

    async def rerank(self, model: Model, request: Rerank) -> tuple[list[RerankScore], Usage | None]: ...

    async def moderate(self, model: Model, request: Moderate) -> ModerationAnswer: ...


class ConfiguredModels:
    """The models of the Host."""

    def __init__(
        self, repository: ModelRepository, catalogue: ModelCatalogue, secrets: SecretBox, timeouts: ModelTimeouts
    ) -> None:
        self._repository = repository
        self._catalogue = catalogue
        self._secrets = secrets
        self._timeouts = timeouts
        self._services: dict[str, tuple[Provider, ModelBackend]] = {}
        self._retiring = BackgroundTasks("the connection to a changed provider could not be closed")

    async def close(self) -> None:
        await self._retiring.aclose()
        services, self._services = self._services, {}
        for _, service in services.values():
            await service.close()

    def resources(self) -> Sequence[ModelResource]:
        return self._repository.resources()

    def parameters(self, model_id: ModelId) -> Mapping[str, Any]:
        model = self._repository.model(model_id)
        return {} if model is None else model.parameters

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        from .estimates import worst_case_usage

        model = self._repository.model(ModelId(request.model_id))
        return Usage() if model is None else _with_cost(model, worst_case_usage(model, request))

    def identity(self, model_id: ModelId) -> dict[str, str]:
        model = self._repository.model(model_id)
        provider = self._repository.provider(model.provider_id) if model is not None else None
        return {"model": model.name, "provider": provider.kind} if model is not None and provider is not None else {}

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer:
        model, service = await self._find(ModelId(request.model_id), "llm")
        piece = await service.invoke(model, request)
        return ModelAnswer(
            message=Message(
                role="assistant",
                content=piece.text,
                tool_calls=piece.tool_calls or None,
                reasoning=piece.reasoning or None,
                metadata=piece.metadata,
            ),
            usage=_usage_with_cost(model, request, piece.usage, piece.text),
            model_id=model.model_id,
            finish_reason=piece.finish_reason or "stop",
        )

    async def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        model, service = await self._find(ModelId(request.model_id), "llm")
        texts: list[str] = []
        async with aclosing(service.stream(model, request)) as pieces:
            async for piece in pieces:
                if not piece.done:
                    texts.append(piece.text)
                    yield _chunk(piece)
                else:
                    yield _last(model, piece, _usage_with_cost(model, request, piece.usage, "".join(texts)))

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer:
        model, service = await self._find(ModelId(request.model_id), "rerank")
        scores, usage = await service.rerank(model, request)
        return RerankAnswer(results=scores, usage=_usage_with_cost(model, request, usage, ""))

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer:
        model, service = await self._find(ModelId(request.model_id), "embedding")
        vectors, usage = await service.embed(model, request)
        return EmbedAnswer(embeddings=vectors, usage=_usage_with_cost(model, request, usage, ""))

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer:
        model, service = await self._find(ModelId(request.model_id), "moderation")
        answer = await service.moderate(model, request)
        return replace(answer, usage=_usage_with_cost(model, request, answer.usage, ""))

    async def _find(self, model_id: ModelId, type: ModelType) -> tuple[Model, ModelBackend]:
        model = self._repository.model(model_id)
        provider = None if model is None else self._repository.provider(model.provider_id)
        if model is None or provider is None:
            raise ProviderFailed("not_found", f"there is no model '{model_id}'")
        if model.type != type:
            raise ProviderFailed("invalid_argument", f"model '{model.name}' is of type {model.type}, not {type}")
        return model, await self._service(provider)

    async def _service(self, provider: Provider) -> ModelBackend:
        existing = self._services.get(provider.provider_id)
        if existing is not None and existing[0] == provider:
            return existing[1]
        kind = self._catalogue.get(provider.kind)
        if kind is None:
            raise ProviderFailed("not_supported", f"{provider.name} is of a kind this Host does not know any more")
        # importing the client takes a while; a thread keeps the event loop free
        name, backend_class = _backend(kind)
        module = await asyncio.to_thread(importlib.import_module, name, __package__)
        existing = self._services.get(provider.provider_id)
        if existing is not None and existing[0] == provider:
            return existing[1]  # another call was faster
        backend: ModelBackend
        if kind.dialect == "demo":
            backend = module.Demo()
        else:
            backend = self._create_client(getattr(module, backend_class), provider, kind)
        if existing is not None:
            self._close_when_idle(existing[1])
        self._services[provider.provider_id] = provider, backend
        return backend

    def _create_client(
        self, service: Callable[..., ModelBackend], provider: Provider, kind: ModelServiceKind
    ) -> ModelBackend:
        try:
            keys = tuple(map(self._secrets.open, provider.sealed_keys))
        except SecretUnreadable as error:
            raise ProviderFailed("secret_unreadable", f"the keys of {provider.name} can't be read: {error}") from error
        return service(provider, kind, keys, self._timeouts)

    def _close_when_idle(self, service: ModelBackend) -> None:
        """Closes the backend of a changed provider later, so that answers in progress can finish."""

        async def wait_and_close() -> None:
            try:
                await asyncio.sleep(self._timeouts.total)
            finally:
                await service.close()

        self._retiring.start(wait_and_close())


def _backend(kind: ModelServiceKind) -> tuple[str, str]:
    """Returns the module and the class of a kind's backend."""
    if kind.dialect == "demo":
        return ".demo", "Demo"
    if kind.dialect in MODERATION_DIALECTS:
        return ".moderation_client", "ModerationClient"
    return ".provider_client", "ProviderClient"


def _chunk(piece: "ResponseChunk") -> ModelChunk:
    return ModelChunk(
        chunk=MessageChunk(role="assistant", content=piece.text, reasoning=piece.reasoning or None),
    )


def _last(model: Model, piece: "ResponseChunk", usage: Usage) -> ModelChunk:
    return ModelChunk(
        chunk=MessageChunk(
            role="assistant", tool_calls=piece.tool_calls or None, metadata=piece.metadata, is_final=True
        ),
        usage=usage,
        model_id=model.model_id,
        finish_reason=piece.finish_reason or "stop",
    )


def _usage_with_cost(
    model: Model, request: InvokeModel | Embed | Rerank | Moderate, usage: Usage | None, text: str
) -> Usage:
    """Returns the usage that the service reported, or an estimate, with its cost."""
    if usage is None or not usage.prompt_tokens:
        from .estimates import estimate_prompt_tokens, estimate_tokens

        usage = usage or Usage(completion_tokens=estimate_tokens(text))
        usage = usage.model_copy(update={"prompt_tokens": estimate_prompt_tokens(request)})
    return _with_cost(model, usage)


def _with_cost(model: Model, usage: Usage) -> Usage:
    return usage.model_copy(update={"cost_micros": model.cost_micros(usage)})

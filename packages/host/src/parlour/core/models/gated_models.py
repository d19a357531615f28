"""Lets model calls wait while this Host can't be sure that it still owns the parts that it calls them for."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from parlour.core.cluster.ownership import Ownership, PartLost
from parlour.core.model.ids import ModelId
from parlour.core.model.moderation import Moderate, ModerationAnswer
from parlour.core.model.providers import CallContext, Models, ProviderFailed
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage


def with_effect_gate(models: Models, ownership: Ownership) -> Models:
    """Returns models that pass the gate of effects before each call. A sole owner has none and uses them directly."""
    return models if ownership.is_sole else GatedModels(models, ownership)


class GatedModels:
    """Calls models after the gate of effects, which is passed after budgets were reserved."""

    def __init__(self, models: Models, ownership: Ownership) -> None:
        self._models = models
        self._ownership = ownership

    def resources(self) -> Sequence[ModelResource]:
        return self._models.resources()

    def parameters(self, model_id: ModelId) -> Mapping[str, Any]:
        return self._models.parameters(model_id)

    def max_usage(self, request: InvokeModel | Embed | Rerank | Moderate) -> Usage:
        return self._models.max_usage(request)

    def identity(self, model_id: ModelId) -> dict[str, str]:
        return self._models.identity(model_id)

    async def invoke(self, context: CallContext, request: InvokeModel) -> ModelAnswer:
        await self._pass_gate()
        return await self._models.invoke(context, request)

    async def stream(self, context: CallContext, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        await self._pass_gate()
        async with aclosing(self._models.stream(context, request)) as parts:
            async for part in parts:
                yield part

    async def rerank(self, context: CallContext, request: Rerank) -> RerankAnswer:
        await self._pass_gate()
        return await self._models.rerank(context, request)

    async def embed(self, context: CallContext, request: Embed) -> EmbedAnswer:
        await self._pass_gate()
        return await self._models.embed(context, request)

    async def moderate(self, context: CallContext, request: Moderate) -> ModerationAnswer:
        await self._pass_gate()
        return await self._models.moderate(context, request)

    async def _pass_gate(self) -> None:
        try:
            if (gate := self._ownership.effect_gate()) is not None:
                await gate
        except PartLost as lost:
            message = "this Host no longer owns the conversation, so the model was not called"
            raise ProviderFailed("runtime_error", message, retryable=True) from lost

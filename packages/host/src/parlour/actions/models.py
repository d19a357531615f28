"""Calls to models, on behalf of a run or a plugin. Which model answers and what it costs is the provider's part."""

from collections.abc import AsyncIterator

from parlour.core.access.caller import Caller
from parlour.core.providers import Models
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer


class ModelActions:
    def __init__(self, models: Models) -> None:
        self._models = models

    async def invoke(self, caller: Caller, request: InvokeModel) -> ModelAnswer:
        return await self._models.invoke(caller.asking(), request)

    def stream(self, caller: Caller, request: InvokeModel) -> AsyncIterator[ModelChunk]:
        return self._models.stream(caller.asking(), request)

    async def rerank(self, caller: Caller, request: Rerank) -> RerankAnswer:
        return await self._models.rerank(caller.asking(), request)

    async def embed(self, caller: Caller, request: Embed) -> EmbedAnswer:
        return await self._models.embed(caller.asking(), request)

"""Calls to models, on behalf of a run or a plugin. Which model answers and what it costs is the provider's part."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing

from parlour.core.access.caller import Caller
from parlour.core.providers import Models
from parlour.core.runs.within import parts_within, within
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer

from .metering import Metering, Used
from .prompt_media import PromptMedia


class ModelActions:
    def __init__(self, models: Models, media: PromptMedia, metering: Metering) -> None:
        self._models = models
        self._media = media
        self._metering = metering

    async def invoke(self, caller: Caller, request: InvokeModel) -> ModelAnswer:
        request = await self._media.inlined(caller.session, request)
        async with self._metered(caller, request.model_id) as used:
            answer = await within(caller.session, self._models.invoke(caller.asking(), request))
            used.usage = answer.usage
        return answer

    async def stream(self, caller: Caller, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        request = await self._media.inlined(caller.session, request)
        async with self._metered(caller, request.model_id) as used:
            stream = self._models.stream(caller.asking(), request)
            async with aclosing(parts_within(caller.session, stream)) as parts:
                async for part in parts:
                    used.usage = part.usage or used.usage
                    yield part

    async def rerank(self, caller: Caller, request: Rerank) -> RerankAnswer:
        async with self._metered(caller, request.model_id) as used:
            answer = await within(caller.session, self._models.rerank(caller.asking(), request))
            used.usage = answer.usage
        return answer

    async def embed(self, caller: Caller, request: Embed) -> EmbedAnswer:
        async with self._metered(caller, request.model_id) as used:
            answer = await within(caller.session, self._models.embed(caller.asking(), request))
            used.usage = answer.usage
        return answer

    def _metered(self, caller: Caller, model_id: str) -> AbstractAsyncContextManager[Used]:
        return self._metering.around(caller, "model", model_id, self._models.identity(model_id))

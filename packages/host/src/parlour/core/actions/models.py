"""Actions that call models for a run or a plugin. The provider decides which model answers and what it costs."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing

from parlour.core.model.providers import Models
from parlour.core.runs.caller import Caller
from parlour.core.runs.model_call_log import ModelCallLog, OpenCall
from parlour.core.runs.scope import parts_within, within
from parlour_sdk.protocol.models import Embed, EmbedAnswer, InvokeModel, ModelAnswer, ModelChunk, Rerank, RerankAnswer

from .prompt_attachments import PromptMedia
from .usage_recording import Metering, Used


class ModelActions:
    def __init__(self, models: Models, media: PromptMedia, metering: Metering, model_calls: ModelCallLog) -> None:
        self._models = models
        self._media = media
        self._metering = metering
        self._model_calls = model_calls

    async def invoke(self, caller: Caller, request: InvokeModel) -> ModelAnswer:
        inlined = await self._media.inlined(caller.session, request)
        call = self._recorded(caller, request)
        async with self._metered(caller, request.model_id, call) as used:
            answer = await within(caller.session, self._models.invoke(caller.asking(), inlined))
            used.usage = answer.usage
            if call is not None:
                call.answered(answer)
        return answer

    async def stream(self, caller: Caller, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        inlined = await self._media.inlined(caller.session, request)
        call = self._recorded(caller, request)
        async with self._metered(caller, request.model_id, call) as used:
            stream = self._models.stream(caller.asking(), inlined)
            async with aclosing(parts_within(caller.session, stream)) as parts:
                async for part in parts:
                    used.usage = part.usage or used.usage
                    if call is not None:
                        call.take(part)
                    yield part

    async def rerank(self, caller: Caller, request: Rerank) -> RerankAnswer:
        call = self._recorded(caller, request)
        async with self._metered(caller, request.model_id, call) as used:
            answer = await within(caller.session, self._models.rerank(caller.asking(), request))
            used.usage = answer.usage
            if call is not None:
                call.answered(answer)
        return answer

    async def embed(self, caller: Caller, request: Embed) -> EmbedAnswer:
        call = self._recorded(caller, request)
        async with self._metered(caller, request.model_id, call) as used:
            answer = await within(caller.session, self._models.embed(caller.asking(), request))
            used.usage = answer.usage
            if call is not None:
                call.answered(answer)
        return answer

    def _metered(self, caller: Caller, model_id: str, call: OpenCall | None) -> AbstractAsyncContextManager[Used]:
        return self._metering.around(caller, "model", model_id, self._models.identity(model_id), call)

    def _recorded(self, caller: Caller, request: InvokeModel | Embed | Rerank) -> OpenCall | None:
        """Starts the record of a call. Files of a prompt are recorded by their names, not by their content."""
        parameters = {**self._models.parameters(request.model_id), **(getattr(request, "extra", None) or {})}
        return self._model_calls.begin(caller.session, request, parameters)

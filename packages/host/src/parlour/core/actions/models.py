"""Actions that call models for a run or a plugin. The provider decides which model answers and what it costs."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

from parlour.core.model.ids import ModelId
from parlour.core.model.providers import Models
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.model_call_log import ModelCallLog, OpenCall
from parlour.core.runs.scope import await_in_run, stream_in_run
from parlour_sdk.protocol.content import MediaElement, plain_text
from parlour_sdk.protocol.models import (
    Embed,
    EmbedAnswer,
    InvokeModel,
    ListModels,
    ModelAnswer,
    ModelChunk,
    ModelList,
    Rerank,
    RerankAnswer,
)

from .handlers import Handler
from .prompt_attachments import PromptAttachments
from .usage_recording import CallUsage, UsageRecorder


class ModelActions:
    def __init__(
        self, models: Models, media: PromptAttachments, usage_recorder: UsageRecorder, model_calls: ModelCallLog
    ) -> None:
        self._models = models
        self._media = media
        self._usage_recorder = usage_recorder
        self._model_calls = model_calls

    def handlers(self) -> dict[str, Handler]:
        return {
            "list_models": self.list,
            "invoke_llm": self.invoke,
            "invoke_llm_stream": self.stream,
            "invoke_rerank": self.rerank,
            "invoke_embedding": self.embed,
        }

    async def list(self, caller: ActionCaller, request: ListModels) -> ModelList:
        granted = [each for each in self._models.resources() if caller.grant.allows("models", each.model_id, "invoke")]
        return ModelList(models=granted)

    async def invoke(self, caller: ActionCaller, request: InvokeModel) -> ModelAnswer:
        inlined = await self._media.inline(caller.session, request)
        call = self._begin_record(caller, request)
        async with self._record_usage(caller, request, call) as call_usage:
            answer = await await_in_run(caller.session, self._models.invoke(caller.call_context(), inlined))
            call_usage.usage = answer.usage
            if call is not None:
                call.set_answer(answer)
        return answer

    async def stream(self, caller: ActionCaller, request: InvokeModel) -> AsyncGenerator[ModelChunk, None]:
        inlined = await self._media.inline(caller.session, request)
        call = self._begin_record(caller, request)
        async with self._record_usage(caller, request, call) as call_usage:
            stream = self._models.stream(caller.call_context(), inlined)
            async with aclosing(stream_in_run(caller.session, stream)) as parts:
                async for part in parts:
                    call_usage.usage = part.usage or call_usage.usage
                    if call is not None:
                        call.add_chunk(part)
                    yield part

    async def rerank(self, caller: ActionCaller, request: Rerank) -> RerankAnswer:
        call = self._begin_record(caller, request)
        async with self._record_usage(caller, request, call) as call_usage:
            answer = await await_in_run(caller.session, self._models.rerank(caller.call_context(), request))
            call_usage.usage = answer.usage
            if call is not None:
                call.set_answer(answer)
        return answer

    async def embed(self, caller: ActionCaller, request: Embed) -> EmbedAnswer:
        call = self._begin_record(caller, request)
        async with self._record_usage(caller, request, call) as call_usage:
            answer = await await_in_run(caller.session, self._models.embed(caller.call_context(), request))
            call_usage.usage = answer.usage
            if call is not None:
                call.set_answer(answer)
        return answer

    def _record_usage(
        self, caller: ActionCaller, request: InvokeModel | Embed | Rerank, call: OpenCall | None
    ) -> AbstractAsyncContextManager[CallUsage]:
        model_id = ModelId(request.model_id)
        details: dict[str, Any] = dict(self._models.identity(model_id))
        if isinstance(request, InvokeModel) and caller.session is not None:
            details["given"] = _outline(request)
        return self._usage_recorder.record(caller, "model", model_id, details, call)

    def _begin_record(self, caller: ActionCaller, request: InvokeModel | Embed | Rerank) -> OpenCall | None:
        """Starts the record of a call. Files of a prompt are recorded by their names, not by their content."""
        parameters = {**self._models.parameters(ModelId(request.model_id)), **(getattr(request, "extra", None) or {})}
        return self._model_calls.begin(caller.session, request, parameters)


def _outline(request: InvokeModel) -> dict[str, int]:
    """Counts what the model is given, for explanations; the whole request is in the record of the call."""
    contents = [each.content for each in request.messages]
    elements = [element for content in contents if not isinstance(content, str) for element in content]
    return {
        "messages": len(request.messages),
        "characters": sum(len(content if isinstance(content, str) else plain_text(content)) for content in contents),
        "tools": len(request.tools or ()),
        "files": sum(isinstance(element, MediaElement) for element in elements),
    }

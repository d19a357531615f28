"""Serves models with scripted answers."""

import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

from parlour_sdk.protocol.content import plain_text
from parlour_sdk.protocol.messages import Message, MessageChunk
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
    RerankScore,
)
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage

from ..gate import Handler
from ..script import Answer, Failure, FakeModel, Reply
from ..sessions import Caller

ASSISTANT: Final = "assistant"


class Models:
    def __init__(self, models: Mapping[str, Any]) -> None:
        self._models = {name: each if isinstance(each, FakeModel) else FakeModel(each) for name, each in models.items()}
        self._calls = dict.fromkeys(models, 0)

    def handlers(self) -> dict[str, Handler]:
        return {
            "list_models": self._list,
            "invoke_llm": self._invoke,
            "invoke_llm_stream": self._stream,
            "invoke_rerank": self._rerank,
            "invoke_embedding": self._embed,
        }

    def resources(self) -> list[ModelResource]:
        return [
            ModelResource(
                model_id=model_id,
                name=model.name or model_id,
                type=model.type,
                provider=model.provider,
                context_window=model.context_window,
                max_output_tokens=model.max_output_tokens,
                abilities=list(model.abilities),
            )
            for model_id, model in self._models.items()
        ]

    async def _list(self, caller: Caller, request: ListModels) -> ModelList:
        return ModelList(models=self.resources())

    async def _invoke(self, caller: Caller, request: InvokeModel) -> ModelAnswer:
        answer = await self._next(request)
        if isinstance(answer, Failure):
            raise answer.exception()
        usage = _estimated_usage(caller, request, answer)
        calls = list(answer.tool_calls) or None
        message = Message(role=ASSISTANT, content=answer.text, tool_calls=calls, reasoning=answer.reasoning)
        return ModelAnswer(message=message, usage=usage, model_id=request.model_id, finish_reason=_reason(answer))

    async def _stream(self, caller: Caller, request: InvokeModel) -> AsyncIterator[ModelChunk]:
        answer = await self._next(request)
        if isinstance(answer, Failure):
            for piece in _pieces(answer.after):
                yield ModelChunk(chunk=MessageChunk(role=ASSISTANT, content=piece), model_id=request.model_id)
            raise answer.exception()
        if answer.reasoning is not None:
            yield ModelChunk(chunk=MessageChunk(role=ASSISTANT, reasoning=answer.reasoning), model_id=request.model_id)
        for piece in answer.pieces if len(answer.pieces) > 1 else _pieces(answer.text):
            yield ModelChunk(chunk=MessageChunk(role=ASSISTANT, content=piece), model_id=request.model_id)
        yield ModelChunk(
            chunk=MessageChunk(role=ASSISTANT, tool_calls=list(answer.tool_calls) or None, is_final=True),
            usage=_estimated_usage(caller, request, answer),
            model_id=request.model_id,
            finish_reason=_reason(answer),
        )

    async def _rerank(self, caller: Caller, request: Rerank) -> RerankAnswer:
        score = self._require_model(request.model_id).answer
        scores = [RerankScore(index=i, score=score(request.query, each)) for i, each in enumerate(request.documents)]
        scores.sort(key=lambda each: -each.score)
        return RerankAnswer(results=scores[: request.top_k])

    async def _embed(self, caller: Caller, request: Embed) -> EmbedAnswer:
        embed = self._require_model(request.model_id).answer
        return EmbedAnswer(embeddings=[embed(text) for text in request.texts])

    def _require_model(self, model_id: str) -> FakeModel:
        if model_id not in self._models:
            raise Failure("not_found", f"there is no model '{model_id}'").exception()
        return self._models[model_id]

    async def _next(self, request: InvokeModel) -> Reply | Failure:
        script = self._require_model(request.model_id).answer
        self._calls[request.model_id] += 1
        if callable(script):
            result = script(request)
            return _answer(await result if inspect.isawaitable(result) else result)
        if isinstance(script, str | Reply | Failure):
            return _answer(script)
        number = self._calls[request.model_id]
        if number > len(script):
            message = f"the script of model '{request.model_id}' has {len(script)} replies, and this is call {number}"
            raise Failure("runtime_error", message).exception()
        return _answer(script[number - 1])


def _answer(answer: Answer) -> Reply | Failure:
    if isinstance(answer, str):
        return Reply((answer,))
    if isinstance(answer, Reply | Failure):
        return answer
    raise TypeError(f"a model's script answers with a text, reply(...) or failure(...), not {type(answer).__name__}")


def _pieces(text: str) -> Iterator[str]:
    """Splits a text into words, each with the white space before it."""
    start = 0
    for position in range(1, len(text)):
        if text[position].isspace() and not text[position - 1].isspace():
            yield text[start:position]
            start = position
    if text:
        yield text[start:]


def _reason(answer: Reply) -> str:
    return answer.finish_reason or ("tool_calls" if answer.tool_calls else "stop")


def _estimated_usage(caller: Caller, request: InvokeModel, answer: Reply) -> Usage:
    """Adds and returns the scripted usage; without one, each word counts as a token."""
    prompt_tokens = sum(len(plain_text(message.content).split()) for message in request.messages)
    usage = answer.usage or Usage(prompt_tokens=prompt_tokens, completion_tokens=len(answer.text.split()))
    if caller.session is not None:
        token_counts = {name: value for name, value in usage.model_dump().items() if value is not None}
        caller.session.add_usage(model_calls=1, **token_counts)
    return usage

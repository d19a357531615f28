"""Makes one model call: tries the first model, and the next one if it fails, hangs or gives an empty answer.

A prompt that exceeds a model's context window is shortened and sent once more; so is one whose media were refused.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from parlour_sdk.protocol.errors import AgentAPIError, AgentAPIException
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from ..values import dataclass
from . import context_budget, media, token_estimates
from .errors import TurnError
from .model_health import TOO_LONG, window_in
from .models import ModelChain, Tools
from .reply_stream import ModelReply, ReplyBuilder
from .tool_memory import without_tool_messages
from .turn_messages import TurnMessages

MIN_WINDOW_TOKENS = 512
"""Below this a prompt is not shortened further."""
ReplyPart = tuple[Message, Usage | None, str | None]
"""A fragment, the usage and the finish reason; the last two are None until they are known."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    """The reason why one model did not answer."""

    model: str
    message: str
    code: str = "model_failed"
    retryable: bool = False


class FallbackModelCall:
    """Calls the models. `answer` is set after the results were read to their end, or TurnError is raised.

    Only a streamed call yields results. `extra` are parameters of this call alone. With `continues` the answer is the
    second part of one that was cut.
    """

    answer: ModelReply

    def __init__(
        self,
        models: ModelChain,
        messages: TurnMessages,
        tools: Sequence[ToolDefinition] = (),
        extra: dict[str, Any] | None = None,
        continues: bool = False,
    ) -> None:
        self._continues = continues
        self._models = models
        self._messages = messages
        self._tools = tools
        self._extra = extra
        self.lost_media = False
        """True if a model refused the media of the prompt and answered without them."""

    async def results(self, streaming: bool) -> AsyncGenerator[Result, None]:
        """Calls one model after the other until one answers; yields the fragments that users may see."""
        failures: list[ModelFailure] = []
        candidates, shortened = self._models.candidates(), False
        while candidates:
            model = candidates.pop(0)
            reply = ReplyBuilder(streaming, self._models.show_thinking, self._continues)
            tools = self._tools if "tools" in model.abilities or not model.abilities else ()
            tool_tokens, prompt_limit = token_estimates.estimate_tools(tools), context_budget.prompt_tokens(model)
            prompt, estimated = self._messages.fit(None if prompt_limit is None else prompt_limit - tool_tokens)
            try:
                parts = self._parts(model, prompt, tools or None, streaming, len(candidates))
                async with aclosing(parts):
                    async for part in parts:
                        for result in reply.add(*part):
                            yield result
            except AgentAPIException as error:
                if error.code == TOO_LONG and not shortened and not reply.shown:
                    shortened = True
                    if (smaller := self._smaller(model, error, estimated + tool_tokens)) is not None:
                        candidates.insert(0, smaller)
                        continue
                if media.was_refused(error, prompt, model.abilities) and not reply.shown:
                    self.lost_media = not media.has_only_documents(prompt, model.abilities)
                    candidates.insert(0, self._models.without_media(model))
                else:
                    failures.append(self._to_failure(model, error, reply.shown))
                continue
            for result in reply.finish():
                yield result
            self.answer = reply.build(model.model_id, estimated + tool_tokens)
            if not self.answer.is_empty or self.answer.finish_reason == "content_filter":
                self._models.prefer(model)
                return
            failures.append(_empty_answer(model, self.answer))
        raise _no_answer_error(failures, self._models)

    async def _parts(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, streaming: bool, others: int
    ) -> AsyncGenerator[ReplyPart, None]:
        """Yields the parts of an answer. While other models wait, its beginning must come in time."""
        messages = prompt if tools else without_tool_messages(prompt)
        limit = self._models.first_part_seconds(others)
        if not streaming and limit is None:
            answer = await self._models.invoke(model, messages, tools, self._extra)
            yield answer.message, answer.usage, answer.finish_reason
            return
        async with aclosing(self._models.stream(model, messages, tools, self._extra)) as parts:
            try:
                async with asyncio.timeout(limit) as waiting:
                    first = await anext(parts, None)
                    waiting.reschedule(None)
            except TimeoutError as error:
                message = f"it did not begin to answer within {limit:g} seconds"
                raise AgentAPIException(AgentAPIError(code="provider_timeout", message=message)) from error
            if first is not None:
                yield first.chunk, first.usage, first.finish_reason
            async for part in parts:
                yield part.chunk, part.usage, part.finish_reason

    def _smaller(self, model: ModelResource, error: AgentAPIException, tokens: int) -> ModelResource | None:
        """Returns the model with the context window that its refusal names, or else with half of this prompt's size.

        None if the prompt can't be made smaller.
        """
        named = window_in(error.message)
        half = max(MIN_WINDOW_TOKENS, tokens // 2)
        window = named if named is not None and (context_budget_of(model, named) < tokens) else half
        if window >= (model.context_window or window + 1) or tokens <= MIN_WINDOW_TOKENS:
            return None
        return self._models.with_window(model, window)

    def _to_failure(self, model: ModelResource, error: AgentAPIException, has_output: bool) -> ModelFailure:
        """Returns the failure of a model.

        Raises instead if no other model can help, or if part of the answer was already shown: another model must not
        start it again.
        """
        if self._models.ends_run(error):
            raise error
        self._models.health.failed(model.model_id, error)
        if has_output:
            sentence = f"The answer of the model '{model.name}' broke off: {error.message}"
            raise TurnError("model_failed", sentence, error.retryable) from error
        return ModelFailure(model.name, error.message, retryable=error.retryable)


def context_budget_of(model: ModelResource, window: int) -> int:
    """Returns the tokens that a prompt may have in a window of this size."""
    return context_budget.prompt_tokens(model.model_copy(update={"context_window": window})) or window


async def request_answer(models: ModelChain, prompt: Sequence[Message], max_tokens: int | None = None) -> ModelReply:
    """Returns an answer that is not shown to users."""
    extra = None if max_tokens is None else {"max_tokens": max_tokens}
    model_call = FallbackModelCall(models, TurnMessages(prompt[:-1], (), prompt[-1]), extra=extra)
    async with aclosing(model_call.results(streaming=False)) as results:
        async for _ in results:
            pass
    return model_call.answer


async def request_text(models: ModelChain, prompt: Sequence[Message]) -> str:
    """Returns the text of an answer that is not shown to users."""
    return (await request_answer(models, prompt)).text


def _empty_answer(model: ModelResource, answer: ModelReply) -> ModelFailure:
    reason = "it thought and said nothing" if answer.reasoning else "it gave an empty answer"
    if answer.finish_reason == "length":
        reason = f"{reason} before its longest answer was reached"
    return ModelFailure(model.name, reason, "no_text" if answer.reasoning else "runner.no_output")


def _no_answer_error(failures: Sequence[ModelFailure], models: ModelChain) -> TurnError:
    """Builds the error for the case that no model answered, with the reason of each."""
    last = failures[-1]
    if last.code == "no_text":
        return TurnError(last.code, models.sentence("no_text"))
    if len(failures) == 1:
        sentence = f"The model '{last.model}' did not answer: {last.message}"
    else:
        reasons = "; ".join(f"'{each.model}': {each.message.rstrip('.')}" for each in failures)
        sentence = f"None of the agent's {len(failures)} models answered. {reasons}"
    return TurnError(last.code, f"{sentence.rstrip('.')}.", any(each.retryable for each in failures))

"""Makes one model call: tries the first model, and the next one if it fails or gives an empty answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from parlour_sdk.api import AgentAPIException
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from . import context_budget, media, token_estimates
from .errors import TurnError, ends_run
from .messages import TurnMessages
from .models import ModelChain, Tools
from .reply_stream import ModelReply, ReplyBuilder

ReplyPart = tuple[Message, Usage | None, str | None]
"""A fragment, the usage and the finish reason; the last two are None until they are known."""


@dataclass(frozen=True, slots=True)
class ModelFailure:
    model: str
    message: str
    code: str = "local-agent.model_failed"
    retryable: bool = False


class FallbackModelCall:
    """Calls the models. `answer` is set after the results were read to their end, or TurnError is raised.

    Only a streamed call (`growing`) yields results.
    """

    answer: ModelReply

    def __init__(
        self, ctx: AgentRunContext, models: ModelChain, dialogue: TurnMessages, tools: Sequence[ToolDefinition] = ()
    ) -> None:
        self._ctx = ctx
        self._models = models
        self._dialogue = dialogue
        self._tools = tools

    async def results(self, growing: bool) -> AsyncGenerator[Result, None]:
        troubles: list[ModelFailure] = []
        waiting = self._models.candidates()
        while waiting:
            model = waiting.pop(0)
            writing = ReplyBuilder(growing, self._models.show_thinking)
            tools = self._tools if "tools" in model.abilities or not model.abilities else ()
            taken, room = token_estimates.estimate_tools(tools), context_budget.prompt_tokens(model)
            prompt, estimated = self._dialogue.fit(None if room is None else room - taken)
            try:
                async with aclosing(self._parts(model, prompt, tools or None, growing)) as parts:
                    async for part in parts:
                        for result in writing.add(*part):
                            yield result
            except AgentAPIException as error:
                if media.was_refused(error, prompt, model.abilities):
                    waiting.insert(0, self._models.without_media(model))
                else:
                    troubles.append(self._to_failure(model, error, writing.shown))
                continue
            for result in writing.finish():
                yield result
            self.answer = writing.build(model.model_id, estimated + taken)
            if not self.answer.is_empty:
                self._models.prefer(model)
                return
            troubles.append(ModelFailure(model.name, "it gave an empty answer", "runner.no_output"))
        raise _no_answer_error(troubles)

    async def _parts(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, growing: bool
    ) -> AsyncGenerator[ReplyPart, None]:
        if not growing:
            answer = await self._models.invoke(model, prompt, tools)
            yield answer.message, answer.usage, answer.finish_reason
            return
        async with aclosing(self._models.stream(model, prompt, tools)) as parts:
            async for part in parts:
                yield part.chunk, part.usage, part.finish_reason

    def _to_failure(self, model: ModelResource, error: AgentAPIException, shown: bool) -> ModelFailure:
        """Returns the failure of a model.

        Raises instead if no other model can help, or if part of the answer was already shown: another model must not
        start it again.
        """
        if ends_run(error, self._ctx):
            raise error
        if shown:
            sentence = f"The answer of the model '{model.name}' broke off: {error.message}"
            raise TurnError("local-agent.model_failed", sentence, error.retryable) from error
        return ModelFailure(model.name, error.message, retryable=error.retryable)


async def request_text(ctx: AgentRunContext, models: ModelChain, prompt: Sequence[Message]) -> str:
    """Returns the text of an answer that is not shown to users."""
    asking = FallbackModelCall(ctx, models, TurnMessages(prompt[:-1], (), prompt[-1]))
    async with aclosing(asking.results(growing=False)) as unseen:
        async for _ in unseen:
            pass
    return asking.answer.text


def _no_answer_error(troubles: Sequence[ModelFailure]) -> TurnError:
    """Builds the error for the case that no model answered, with the reason of each."""
    last = troubles[-1]
    if len(troubles) == 1:
        sentence = f"The model '{last.model}' did not answer: {last.message}"
    else:
        reasons = "; ".join(f"'{each.model}': {each.message.rstrip('.')}" for each in troubles)
        sentence = f"None of the agent's {len(troubles)} models answered. {reasons}"
    return TurnError(last.code, f"{sentence.rstrip('.')}.", any(each.retryable for each in troubles))

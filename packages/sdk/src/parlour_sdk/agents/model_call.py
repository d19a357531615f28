"""Makes one model call: tries the first model, and the next one if it fails or gives an empty answer."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from parlour_sdk.protocol.errors import AgentAPIException
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.models import ToolDefinition
from parlour_sdk.protocol.resources import ModelResource
from parlour_sdk.protocol.usage import Usage
from parlour_sdk.results import Result

from ..values import dataclass
from . import context_budget, media, token_estimates
from .errors import TurnError
from .models import ModelChain, Tools
from .reply_stream import ModelReply, ReplyBuilder
from .turn_messages import TurnMessages

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

    Only a streamed call yields results.
    """

    answer: ModelReply

    def __init__(self, models: ModelChain, messages: TurnMessages, tools: Sequence[ToolDefinition] = ()) -> None:
        self._models = models
        self._messages = messages
        self._tools = tools

    async def results(self, streaming: bool) -> AsyncGenerator[Result, None]:
        """Calls one model after the other until one answers; yields the fragments that users may see."""
        failures: list[ModelFailure] = []
        candidates = self._models.candidates()
        while candidates:
            model = candidates.pop(0)
            reply = ReplyBuilder(streaming, self._models.show_thinking)
            tools = self._tools if "tools" in model.abilities or not model.abilities else ()
            tool_tokens, prompt_limit = token_estimates.estimate_tools(tools), context_budget.prompt_tokens(model)
            prompt, estimated = self._messages.fit(None if prompt_limit is None else prompt_limit - tool_tokens)
            try:
                async with aclosing(self._parts(model, prompt, tools or None, streaming)) as parts:
                    async for part in parts:
                        for result in reply.add(*part):
                            yield result
            except AgentAPIException as error:
                if media.was_refused(error, prompt, model.abilities):
                    candidates.insert(0, self._models.without_media(model))
                else:
                    failures.append(self._to_failure(model, error, reply.shown))
                continue
            for result in reply.finish():
                yield result
            self.answer = reply.build(model.model_id, estimated + tool_tokens)
            if not self.answer.is_empty:
                self._models.prefer(model)
                return
            failures.append(ModelFailure(model.name, "it gave an empty answer", "runner.no_output"))
        raise _no_answer_error(failures)

    async def _parts(
        self, model: ModelResource, prompt: Sequence[Message], tools: Tools, streaming: bool
    ) -> AsyncGenerator[ReplyPart, None]:
        if not streaming:
            answer = await self._models.invoke(model, prompt, tools)
            yield answer.message, answer.usage, answer.finish_reason
            return
        async with aclosing(self._models.stream(model, prompt, tools)) as parts:
            async for part in parts:
                yield part.chunk, part.usage, part.finish_reason

    def _to_failure(self, model: ModelResource, error: AgentAPIException, has_output: bool) -> ModelFailure:
        """Returns the failure of a model.

        Raises instead if no other model can help, or if part of the answer was already shown: another model must not
        start it again.
        """
        if self._models.ends_run(error):
            raise error
        if has_output:
            sentence = f"The answer of the model '{model.name}' broke off: {error.message}"
            raise TurnError("model_failed", sentence, error.retryable) from error
        return ModelFailure(model.name, error.message, retryable=error.retryable)


async def request_text(models: ModelChain, prompt: Sequence[Message]) -> str:
    """Returns the text of an answer that is not shown to users."""
    model_call = FallbackModelCall(models, TurnMessages(prompt[:-1], (), prompt[-1]))
    async with aclosing(model_call.results(streaming=False)) as results:
        async for _ in results:
            pass
    return model_call.answer.text


def _no_answer_error(failures: Sequence[ModelFailure]) -> TurnError:
    """Builds the error for the case that no model answered, with the reason of each."""
    last = failures[-1]
    if len(failures) == 1:
        sentence = f"The model '{last.model}' did not answer: {last.message}"
    else:
        reasons = "; ".join(f"'{each.model}': {each.message.rstrip('.')}" for each in failures)
        sentence = f"None of the agent's {len(failures)} models answered. {reasons}"
    return TurnError(last.code, f"{sentence.rstrip('.')}.", any(each.retryable for each in failures))

"""The loop of one turn: calls the model, executes the tools it asks for, and repeats until it answers.

call     the model, or its fallbacks; the answer is streamed
act      on tool calls: all of an answer run concurrently, and their outputs go back to the model
steer    by messages that arrived during the run: after each batch of tools, and once more before the end
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import FinishReason
from parlour_sdk.results import Result

from .history import TOKENS_KEY
from .knowledge import KnowledgeSearch
from .model_call import FallbackModelCall
from .models import ModelChain
from .reply_stream import ModelReply
from .steering import SteeringReader
from .tool_calls import RunTools
from .tools import Toolbox
from .turn_messages import TurnMessages

MAX_ROUNDS = 128
TOOL_LIMIT_REFUSAL = "This was not done: no more tools may be called. Answer now, with what you have."
EXTRA_CALLS_PER_ROUND = 2
"""Calls of a round besides the tools: the model call and the steering pull."""
TOOL_LIMIT_TEXT = "I stopped after {rounds} rounds of tool calls without coming to an answer."


class ToolLoop:
    """Runs a turn. With `knowledge`, steering messages are searched for too and the answers have its citations."""

    def __init__(
        self,
        models: ModelChain,
        tools: RunTools,
        steering: SteeringReader,
        knowledge: KnowledgeSearch | None = None,
        max_rounds: int = MAX_ROUNDS,
    ) -> None:
        self._models = models
        self._tools = tools
        self._steering = steering
        self._knowledge = knowledge
        self._max_rounds = max_rounds

    async def results(self, messages: TurnMessages, toolbox: Toolbox) -> AsyncGenerator[Result, None]:
        """Yields the results of the run to its end. Raises TurnError if no model answers."""
        rounds = 0
        while True:
            is_over_limit = rounds > self._max_rounds
            model_call = FallbackModelCall(self._models, messages, toolbox.definitions)
            async with aclosing(model_call.results(self._models.streaming)) as model_results:
                async for result in model_results:
                    yield result
            answer = model_call.answer.without_calls() if is_over_limit else model_call.answer
            messages.add(answer.to_message())
            if answer.tool_calls:
                async with aclosing(self._act(answer, messages, toolbox, rounds)) as tool_results:
                    async for result in tool_results:
                        yield result
                rounds += 1
                continue
            steering_messages = await self._pull_steering()
            yield self._completed(answer)
            if not steering_messages:
                yield results.finished(_finish_reason(answer, is_over_limit))
                return
            messages.add(*steering_messages)

    async def _act(
        self, answer: ModelReply, messages: TurnMessages, toolbox: Toolbox, rounds: int
    ) -> AsyncGenerator[Result, None]:
        """Executes the tool calls of an answer.

        Text before tool calls is a separate message. After the last allowed round the calls are refused, so that the
        model has to answer.
        """
        if answer.says_something:
            yield self._completed(answer)
        batch = self._tools.batch(toolbox, answer.tool_calls)
        if rounds == self._max_rounds:
            messages.add(*batch.refuse(TOOL_LIMIT_REFUSAL))
            return
        await self._tools.reserve(len(answer.tool_calls) + EXTRA_CALLS_PER_ROUND)
        async with aclosing(batch.results()) as tool_results:
            async for result in tool_results:
                yield result
        messages.add(*batch.messages, *await self._pull_steering())

    async def _pull_steering(self) -> list[Message]:
        """Pulls the messages that arrived during the run, each with passages of the knowledge bases."""
        pulled = await self._steering.pull()
        if self._knowledge is not None:
            pulled = [await self._knowledge.augment(each) for each in pulled]
        return [each.to_message() for each in pulled]

    def _completed(self, answer: ModelReply) -> Result:
        """Builds the message; if the model reached the tool limit without a text, a fixed text takes its place."""
        content = answer.content() if answer.says_something else TOOL_LIMIT_TEXT.format(rounds=self._max_rounds)
        reasoning = answer.reasoning if self._models.show_thinking else ""
        message = Message(
            role="assistant", content=content, reasoning=reasoning or None, metadata=self._metadata(answer)
        )
        return results.completed(message)

    def _metadata(self, answer: ModelReply) -> dict[str, Any]:
        metadata: dict[str, Any] = {"model_id": answer.model_id}
        if answer.counted_tokens:
            metadata[TOKENS_KEY] = {"counted": answer.counted_tokens, "estimated": answer.estimated_tokens}
        if self._knowledge is not None and self._knowledge.citations:
            metadata["citations"] = list(self._knowledge.citations)
        return metadata


def _finish_reason(answer: ModelReply, is_over_limit: bool) -> FinishReason:
    if is_over_limit:
        return "tool_limit"
    return "length" if answer.finish_reason == "length" else "stop"

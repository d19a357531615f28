"""The main loop of one turn, from the user's message to the end of the run. The other modules are its parts.

prepare  the prompt, the history within its budget, the tools, and passages of the knowledge bases
call     the model, or its fallbacks; the answer is streamed
act      on tool calls: all of an answer run concurrently, and their outputs go back to the model
steer    by messages that arrived during the run: after each batch of tools, and once more before the end
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from parlour_sdk import results
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.messages import Message
from parlour_sdk.protocol.results import FinishReason
from parlour_sdk.results import Result

from .history import TOKENS_KEY
from .knowledge import KnowledgeSearch
from .messages import TurnMessages
from .model_call import FallbackModelCall
from .models import ModelChain
from .reply_stream import ModelReply
from .settings import LocalAgentSettings
from .steering import SteeringReader
from .tool_calls import RunTools
from .tools import Toolbox
from .turn_context import TurnContextBuilder
from .user_message import UserMessage

TOOL_LIMIT_REFUSAL = "This was not done: no more tools may be called. Answer now, with what you have."
EXTRA_CALLS_PER_ROUND = 2
"""Calls of a round besides the tools: the model call and the steering pull."""
TOOL_LIMIT_TEXT = "I stopped after {rounds} rounds of tool calls without coming to an answer."


class AgentTurn:
    def __init__(
        self,
        ctx: AgentRunContext,
        settings: LocalAgentSettings,
        opening: TurnContextBuilder,
        models: ModelChain,
        knowledge: KnowledgeSearch,
        steering: SteeringReader,
        tools: RunTools,
    ) -> None:
        self._ctx = ctx
        self._settings = settings
        self._context_builder = opening
        self._models = models
        self._knowledge = knowledge
        self._steering = steering
        self._tools = tools

    async def results(self, what: UserMessage) -> AsyncGenerator[Result, None]:
        begun = await self._context_builder.build(what)
        for result in begun.results:
            yield result
        dialogue, toolbox = begun.messages, begun.toolbox
        rounds = 0
        while True:
            over = rounds > self._settings.max_tool_rounds
            asking = FallbackModelCall(self._ctx, self._models, dialogue, toolbox.definitions)
            async with aclosing(asking.results(self._models.streaming)) as written:
                async for result in written:
                    yield result
            answer = asking.answer.without_calls() if over else asking.answer
            dialogue.add(answer.to_message())
            if answer.tool_calls:
                async with aclosing(self._act(answer, dialogue, toolbox, rounds)) as acting:
                    async for result in acting:
                        yield result
                rounds += 1
                continue
            further = await self._pull_steering()
            yield self._completed(answer)
            if not further:
                yield results.finished(_reason(answer, over))
                return
            dialogue.add(*further)

    async def _act(
        self, answer: ModelReply, dialogue: TurnMessages, toolbox: Toolbox, rounds: int
    ) -> AsyncGenerator[Result, None]:
        """Executes the tool calls of an answer.

        Text before tool calls is a separate message. After the last allowed round the calls are refused, so that the
        model has to answer.
        """
        if answer.says_something:
            yield self._completed(answer)
        batch = self._tools.batch(toolbox, answer.tool_calls)
        if rounds == self._settings.max_tool_rounds:
            dialogue.add(*batch.refuse(TOOL_LIMIT_REFUSAL))
            return
        await self._tools.reserve(len(answer.tool_calls) + EXTRA_CALLS_PER_ROUND)
        async with aclosing(batch.results()) as called:
            async for result in called:
                yield result
        dialogue.add(*batch.messages, *await self._pull_steering())

    async def _pull_steering(self) -> list[Message]:
        """Pulls the messages that arrived during the run, each with passages of the knowledge bases."""
        heard = []
        for what in await self._steering.pull():
            passages = await self._knowledge.rerank(what, await self._knowledge.search(what))
            heard.append(self._knowledge.attach(what, passages).to_message())
        return heard

    def _completed(self, answer: ModelReply) -> Result:
        """Builds the message; if the model reached the tool limit without a text, a fixed text takes its place."""
        content = (
            answer.content() if answer.says_something else TOOL_LIMIT_TEXT.format(rounds=self._settings.max_tool_rounds)
        )
        shown = answer.reasoning if self._settings.show_thinking else ""
        message = Message(role="assistant", content=content, reasoning=shown or None, metadata=self._metadata(answer))
        return results.completed(message)

    def _metadata(self, answer: ModelReply) -> dict[str, Any]:
        told: dict[str, Any] = {"model_id": answer.model_id}
        if answer.counted_tokens:
            told[TOKENS_KEY] = {"counted": answer.counted_tokens, "estimated": answer.estimated_tokens}
        if self._knowledge.citations:
            told["citations"] = list(self._knowledge.citations)
        return told


def _reason(answer: ModelReply, no_more_tools: bool) -> FinishReason:
    if no_more_tools:
        return "tool_limit"
    return "length" if answer.finish_reason == "length" else "stop"

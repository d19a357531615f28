"""One turn of the local agent: requests history, tools and knowledge concurrently, then runs the tool loop."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from parlour_sdk.agents import context_budget, token_estimates
from parlour_sdk.agents.compaction import HistoryCompactor
from parlour_sdk.agents.history import HistoryTail, TranscriptReader
from parlour_sdk.agents.knowledge import KnowledgeSearch
from parlour_sdk.agents.models import ModelChain
from parlour_sdk.agents.steering import SteeringReader
from parlour_sdk.agents.template_variables import TemplateVariables
from parlour_sdk.agents.tool_calls import RunTools
from parlour_sdk.agents.tool_loop import ToolLoop
from parlour_sdk.agents.tools import Toolbox
from parlour_sdk.agents.turn_messages import TurnMessages
from parlour_sdk.agents.user_message import UserMessage
from parlour_sdk.api import AgentRunAPI
from parlour_sdk.protocol.context import AgentRunContext
from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.results import Result

from .prompt import Prompt
from .settings import LocalAgentSettings


class AgentTurn:
    def __init__(self, ctx: AgentRunContext, api: AgentRunAPI, settings: LocalAgentSettings) -> None:
        self._settings = settings
        self._models = ModelChain(ctx, api, settings.models, settings.streaming, settings.show_thinking)
        self._knowledge = KnowledgeSearch(ctx, api, settings.knowledge)
        self._prompt = Prompt(settings.prompt, ctx.resources.skills, TemplateVariables(ctx))
        self._compactor = HistoryCompactor(ctx, TranscriptReader(ctx, api), self._models)
        self._tools = RunTools(ctx, api)
        self._loop = ToolLoop(
            self._models, self._tools, SteeringReader(ctx, api), self._knowledge, settings.max_tool_rounds
        )

    async def results(self, user_message: UserMessage) -> AsyncGenerator[Result, None]:
        tail, toolbox, chunks = await self._gather(user_message)
        passages = await self._knowledge.rerank(user_message, chunks)
        first_message = self._knowledge.attach(user_message, passages).to_message()
        used_tokens = token_estimates.estimate_messages(
            [*self._prompt.messages(), first_message]
        ) + token_estimates.estimate_tools(toolbox.definitions)
        prompt_limit = context_budget.prompt_tokens(self._models.primary)
        tokens = context_budget.history_tokens(
            self._settings.context_tokens, prompt_limit, tail.token_ratio.to_real(used_tokens)
        )
        history = await self._compactor.compact(tail, tokens)
        for result in history.results:
            yield result
        messages = TurnMessages(self._prompt.messages(history.summary), history.items, first_message)
        async with aclosing(self._loop.results(messages, toolbox)) as loop_results:
            async for result in loop_results:
                yield result

    async def _gather(self, user_message: UserMessage) -> tuple[HistoryTail, Toolbox, list[KnowledgeChunk]]:
        tail = asyncio.ensure_future(self._compactor.tail())
        toolbox = asyncio.ensure_future(self._load_tools())
        chunks = asyncio.ensure_future(self._knowledge.search(user_message))
        try:
            return await asyncio.gather(tail, toolbox, chunks)
        finally:
            for each in (tail, toolbox, chunks):
                each.cancel()

    async def _load_tools(self) -> Toolbox:
        return await self._tools.load() if self._settings.max_tool_rounds else Toolbox()

"""Builds the initial context of a turn: history, tools and knowledge, requested concurrently."""

import asyncio
from dataclasses import dataclass

from parlour_sdk.protocol.knowledge import KnowledgeChunk
from parlour_sdk.results import Result

from . import context_budget, token_estimates
from .compaction import HistoryCompactor
from .history import HistoryTail
from .knowledge import KnowledgeSearch
from .messages import TurnMessages
from .models import ModelChain
from .prompt import Prompt
from .settings import LocalAgentSettings
from .tool_calls import RunTools
from .tools import Toolbox
from .user_message import UserMessage


@dataclass(frozen=True, slots=True)
class TurnContext:
    messages: TurnMessages
    toolbox: Toolbox
    results: tuple[Result, ...]
    """Results that store a new summary; empty if none was made."""


class TurnContextBuilder:
    def __init__(
        self,
        settings: LocalAgentSettings,
        models: ModelChain,
        prompt: Prompt,
        compaction: HistoryCompactor,
        knowledge: KnowledgeSearch,
        tools: RunTools,
    ) -> None:
        self._settings = settings
        self._models = models
        self._prompt = prompt
        self._compaction = compaction
        self._knowledge = knowledge
        self._tools = tools

    async def build(self, what: UserMessage) -> TurnContext:
        tail, tools, chunks = await self._gather(what)
        passages = await self._knowledge.rerank(what, chunks)
        first = self._knowledge.attach(what, passages).to_message()
        taken = token_estimates.estimate_messages([*self._prompt.messages(), first]) + token_estimates.estimate_tools(
            tools.definitions
        )
        room = context_budget.prompt_tokens(self._models.primary)
        tokens = context_budget.history_tokens(self._settings.context_tokens, room, tail.token_ratio.to_real(taken))
        memory = await self._compaction.compact(tail, tokens)
        return TurnContext(
            TurnMessages(self._prompt.messages(memory.summary), memory.items, first), tools, memory.results
        )

    async def _gather(self, what: UserMessage) -> tuple[HistoryTail, Toolbox, list[KnowledgeChunk]]:
        tail = asyncio.ensure_future(self._compaction.tail())
        tools = asyncio.ensure_future(self._load_tools())
        chunks = asyncio.ensure_future(self._knowledge.search(what))
        try:
            return await asyncio.gather(tail, tools, chunks)
        finally:
            for each in (tail, tools, chunks):
                each.cancel()

    async def _load_tools(self) -> Toolbox:
        if not self._settings.max_tool_rounds:
            return Toolbox()
        return await self._tools.load()

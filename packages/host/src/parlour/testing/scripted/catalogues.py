"""Provides knowledge bases, skills, files and bots with a few values in memory."""

import base64
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from parlour.core.model.ids import BotId
from parlour.core.model.providers import CallContext, EmptyProvider, ProviderFailed
from parlour_sdk.protocol.files import FileChunk
from parlour_sdk.protocol.knowledge import ChunkSource, KnowledgeChunk
from parlour_sdk.protocol.listing import BotCapabilities, BotSummary
from parlour_sdk.protocol.resources import FileResource, KnowledgeBaseResource, SkillResource
from parlour_sdk.protocol.skills import ActiveSkill


class ScriptedKnowledge(EmptyProvider):
    """Holds passages by knowledge base. A search finds those that contain the query, in their given order."""

    def __init__(self, bases: Mapping[str, Sequence[str]]) -> None:
        self._bases = bases
        self.queries: list[tuple[str, str, int, dict[str, Any] | None]] = []

    def resources(self) -> Sequence[KnowledgeBaseResource]:
        return [KnowledgeBaseResource(kb_id=name, name=name) for name in self._bases]

    async def retrieve(
        self, context: CallContext, kb_id: str, query: str, top_k: int, filters: dict[str, Any] | None
    ) -> Sequence[KnowledgeChunk]:
        self.queries.append((kb_id, query, top_k, filters))
        matches = [
            (index, text) for index, text in enumerate(_lookup(self._bases, "knowledge base", kb_id)) if query in text
        ]
        source = ChunkSource(file_name=f"{kb_id}.txt")
        return [
            KnowledgeChunk(chunk_id=f"{kb_id}-{index}", kb_id=kb_id, content=text, score=1 / (1 + index), source=source)
            for index, text in matches[:top_k]
        ]


class ScriptedSkills:
    """Holds instructions by name."""

    def __init__(self, skills: Mapping[str, str]) -> None:
        self._skills = skills
        self._active: defaultdict[str, set[str]] = defaultdict(set)
        """Names by conversation."""
        self.activated: list[str] = []

    def resources(self) -> Sequence[SkillResource]:
        return [SkillResource(skill_name=name) for name in self._skills]

    async def active(self, context: CallContext) -> Collection[str]:
        return self._active[context.conversation_id]

    async def activate(self, context: CallContext, skill_name: str, records: bool = True) -> ActiveSkill:
        self.activated.append(skill_name)
        if records:
            self._active[context.conversation_id].add(skill_name)
        return ActiveSkill(skill_name=skill_name, instructions=_lookup(self._skills, "skill", skill_name))


class ScriptedFiles:
    """Holds contents by key."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def resources(self) -> Sequence[FileResource]:
        return [FileResource(file_id=key, name=key, size_bytes=len(content)) for key, content in self._files.items()]

    async def read(self, file_key: str, offset: int, length: int) -> FileChunk:
        content = _lookup(self._files, "file", file_key)
        piece = content[offset : offset + length]
        return FileChunk(
            file_key=file_key,
            file_name=file_key,
            size_bytes=len(content),
            offset=offset,
            content_base64=base64.b64encode(piece).decode(),
            has_more=offset + len(piece) < len(content),
        )


class ScriptedPlatforms:
    """Holds bots by id with their platform methods and the answers of these."""

    def __init__(self, bots: Mapping[str, Mapping[str, Any]]) -> None:
        self._bots = bots
        self.calls: list[tuple[str, str, dict[str, Any]]] = []

    def bots(self) -> Sequence[BotSummary]:
        names = list(self._bots)
        return [BotSummary(bot_id=each, name=each, adapter="scripted", enabled=True, state="running") for each in names]

    def capabilities(self, bot_id: BotId) -> BotCapabilities | None:
        if bot_id not in self._bots:
            return None
        return BotCapabilities(bot_id=bot_id, adapter="scripted", apis=sorted(self._bots[bot_id]))

    async def call(self, context: CallContext, bot_id: BotId, api: str, arguments: dict[str, Any]) -> Any:
        answers = _lookup(self._bots, "bot", bot_id)
        self.calls.append((bot_id, api, arguments))
        if api not in answers:
            raise ProviderFailed("not_supported", f"bot '{bot_id}' has no {api}")
        return answers[api]


def _lookup(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    if name not in entries:
        raise ProviderFailed("not_found", f"there is no {kind} '{name}'")
    return entries[name]

"""Serves the knowledge bases, skills and files of a test."""

import base64
import inspect
import mimetypes
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from parlour_sdk.protocol.files import FileChunk, GetFile
from parlour_sdk.protocol.knowledge import (
    ChunkSource,
    GetKnowledgeFile,
    InvokeParser,
    KnowledgeChunk,
    KnowledgeList,
    KnowledgeResult,
    ListKnowledge,
    ParsedFile,
    ParsedSection,
    RetrieveKnowledge,
)
from parlour_sdk.protocol.resources import FileResource, KnowledgeBaseResource, SkillResource
from parlour_sdk.protocol.skills import ActivateSkill, ActiveSkill, ListSkills, SkillList

from ..gate import Handler
from ..script import Failure, word_overlap
from ..sessions import Caller


class Knowledge:
    """Serves knowledge bases. A base is a list of texts or chunks, or a function of query, top_k and filters.

    Texts are scored by the words that they share with the query.
    """

    def __init__(self, bases: Mapping[str, Any]) -> None:
        self._bases = dict(bases)

    def handlers(self) -> dict[str, Handler]:
        return {"list_knowledge": self._list, "retrieve_knowledge": self._retrieve}

    def resources(self) -> list[KnowledgeBaseResource]:
        return [KnowledgeBaseResource(kb_id=kb_id, name=kb_id) for kb_id in self._bases]

    async def _list(self, caller: Caller, request: ListKnowledge) -> KnowledgeList:
        granted = [each for each in self.resources() if caller.grant.allows("knowledge_bases", each.kb_id, "list")]
        return KnowledgeList(knowledge_bases=granted)

    async def _retrieve(self, caller: Caller, request: RetrieveKnowledge) -> KnowledgeResult:
        if request.kb_id not in self._bases:
            raise Failure("not_found", f"there is no knowledge base '{request.kb_id}'").exception()
        base = self._bases[request.kb_id]
        if isinstance(base, Failure):
            raise base.exception()
        if callable(base):
            result = base(request.query, request.top_k, request.filters)
            chunks = _chunks(request, await result if inspect.isawaitable(result) else result)
        else:
            chunks = sorted(_chunks(request, base), key=lambda chunk: -chunk.score)
        return KnowledgeResult(chunks=chunks[: request.top_k])


def _chunks(request: RetrieveKnowledge, entries: list[str | KnowledgeChunk]) -> list[KnowledgeChunk]:
    return [
        KnowledgeChunk(
            chunk_id=f"{request.kb_id}-{number}",
            kb_id=request.kb_id,
            content=each,
            score=word_overlap(request.query, each),
            source=ChunkSource(file_name=f"{request.kb_id}.txt", position=number),
        )
        if isinstance(each, str)
        else each
        for number, each in enumerate(entries)
    ]


class Skills:
    def __init__(self, skills: Mapping[str, str | ActiveSkill]) -> None:
        self._skills = {
            name: each if isinstance(each, ActiveSkill) else ActiveSkill(skill_name=name, instructions=each)
            for name, each in skills.items()
        }
        self._active: defaultdict[str, set[str]] = defaultdict(set)
        """Names by conversation."""

    def handlers(self) -> dict[str, Handler]:
        return {"list_skills": self._list, "activate_skill": self._activate}

    def resources(self) -> list[SkillResource]:
        return [
            SkillResource(skill_name=name, description=skill.metadata.get("description"))
            for name, skill in self._skills.items()
        ]

    async def _list(self, caller: Caller, request: ListSkills) -> SkillList:
        granted = [each for each in self.resources() if caller.grant.allows("skills", each.skill_name, "list")]
        active = self._active[_conversation(caller)]
        return SkillList(skills=[each.model_copy(update={"active": each.skill_name in active}) for each in granted])

    async def _activate(self, caller: Caller, request: ActivateSkill) -> ActiveSkill:
        self._active[_conversation(caller)].add(request.skill_name)
        return self._skills[request.skill_name]


def _conversation(caller: Caller) -> str:
    return caller.session.conversation_id if caller.session is not None else ""


class Files:
    def __init__(self, files: Mapping[str, bytes | str | Path]) -> None:
        self._files = dict(files)

    def handlers(self) -> dict[str, Handler]:
        return {"get_file": self._get, "get_knowledge_file": self._get, "invoke_parser": self._parse}

    def resources(self) -> list[FileResource]:
        return [
            FileResource(
                file_id=key, name=self._name(key), mime_type=_kind(self._name(key)), size_bytes=len(self._bytes(key))
            )
            for key in self._files
        ]

    async def _parse(self, caller: Caller, request: InvokeParser) -> ParsedFile:
        """Returns the file as text, with a section for each paragraph."""
        text = self._bytes(request.file_key).decode()
        sections = [ParsedSection(text=paragraph) for paragraph in text.split("\n\n") if paragraph.strip()]
        return ParsedFile(text=text, sections=sections)

    async def _get(self, caller: Caller, request: GetFile | GetKnowledgeFile) -> FileChunk:
        content, name = self._bytes(request.file_key), self._name(request.file_key)
        end = request.offset + request.length
        return FileChunk(
            file_key=request.file_key,
            file_name=name,
            mime_type=_kind(name),
            size_bytes=len(content),
            offset=request.offset,
            content_base64=base64.b64encode(content[request.offset : end]).decode(),
            has_more=end < len(content),
        )

    def _bytes(self, key: str) -> bytes:
        if key not in self._files:
            raise Failure("not_found", f"there is no file '{key}'").exception()
        match self._files[key]:
            case bytes() as content:
                return content
            case str() as text:
                return text.encode()
            case path:
                return path.read_bytes()

    def _name(self, key: str) -> str:
        file = self._files[key]
        return file.name if isinstance(file, Path) else key


def _kind(name: str) -> str | None:
    return mimetypes.guess_type(name)[0]

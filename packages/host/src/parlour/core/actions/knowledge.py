"""Actions for the knowledge bases, skills and files that a caller was granted."""

from collections.abc import Sequence
from typing import Any

from parlour.core.model.ids import RunId
from parlour.core.model.providers import Files, Knowledge, Skills
from parlour.core.runs.caller import ActionCaller
from parlour.core.runs.scope import await_in_run
from parlour_sdk.protocol.files import FileChunk, GetFile
from parlour_sdk.protocol.knowledge import (
    GetKnowledgeFile,
    InvokeParser,
    KnowledgeChunk,
    KnowledgeList,
    KnowledgeResult,
    ListKnowledge,
    ParsedFile,
    RetrieveKnowledge,
)
from parlour_sdk.protocol.skills import ActivateSkill, ActiveSkill, ListSkills, SkillList

from .handlers import Handler
from .recorded_searches import MAX_RECORDED_QUERY, SEARCH_EVENT, RecordedSearch, RecordedSearches


class KnowledgeActions:
    def __init__(self, knowledge: Knowledge, searches: RecordedSearches) -> None:
        self._knowledge = knowledge
        self._searches = searches

    def handlers(self) -> dict[str, Handler]:
        return {
            "list_knowledge": self.list,
            "retrieve_knowledge": self.retrieve,
            "get_knowledge_file": self.read_file,
            "invoke_parser": self.parse_file,
        }

    async def list(self, caller: ActionCaller, request: ListKnowledge) -> KnowledgeList:
        granted = [
            each for each in self._knowledge.resources() if caller.grant.allows("knowledge_bases", each.kb_id, "list")
        ]
        return KnowledgeList(knowledge_bases=granted)

    async def retrieve(self, caller: ActionCaller, request: RetrieveKnowledge) -> KnowledgeResult:
        before = await self._search_of_original(caller, request)
        recalled = None
        if before is not None:
            recalled = await self._knowledge.recall(request.kb_id, before.passages, before.found_at)
        if recalled is not None:
            chunks, as_of = recalled, "original"
        else:
            retrieval = self._knowledge.retrieve(
                caller.call_context(), request.kb_id, request.query, request.top_k, request.filters
            )
            chunks, as_of = await await_in_run(caller.session, retrieval), "gone" if before is not None else ""
        if caller.session is not None:
            caller.session.meter.record_event(SEARCH_EVENT, _record(request, chunks, as_of))
        return KnowledgeResult(chunks=list(chunks))

    async def _search_of_original(self, caller: ActionCaller, request: RetrieveKnowledge) -> RecordedSearch | None:
        """Returns the same search of the original run if this is its rerun."""
        dry_run = caller.session.dry_run if caller.session is not None else None
        if dry_run is None:
            return None
        return await self._searches.find(RunId(dry_run.rerun_of), request.kb_id, request.query)

    async def read_file(self, caller: ActionCaller, request: GetKnowledgeFile) -> FileChunk:
        return await self._knowledge.read_file(caller.plugin_id, request.file_key, request.offset, request.length)

    async def parse_file(self, caller: ActionCaller, request: InvokeParser) -> ParsedFile:
        return await self._knowledge.parse_file(caller.plugin_id, request.file_key, request.parser or "")


def _record(request: RetrieveKnowledge, chunks: Sequence[KnowledgeChunk], as_of: str) -> dict[str, Any]:
    """Returns what the ledger keeps of a search: which passages an answer may stand on.

    `as_of` is set in a rerun: `original` if these are the passages of the original run, `gone` if they are not there
    any more, so that the base was searched as it is now.
    """
    found = [
        {"chunk_id": chunk.chunk_id, "score": chunk.score, **chunk.source.model_dump(exclude_none=True)}
        for chunk in chunks
    ]
    record = {"kb_id": request.kb_id, "query": request.query[:MAX_RECORDED_QUERY], "passages": found}
    return {**record, "as_of": as_of} if as_of else record


class SkillActions:
    def __init__(self, skills: Skills) -> None:
        self._skills = skills

    def handlers(self) -> dict[str, Handler]:
        return {
            "list_skills": self.list,
            "activate_skill": self.activate,
        }

    async def list(self, caller: ActionCaller, request: ListSkills) -> SkillList:
        granted = [each for each in self._skills.resources() if caller.grant.allows("skills", each.skill_name, "list")]
        active = await self._skills.active(caller.call_context()) if granted else ()
        return SkillList(skills=[each.model_copy(update={"active": each.skill_name in active}) for each in granted])

    async def activate(self, caller: ActionCaller, request: ActivateSkill) -> ActiveSkill:
        records = caller.session is None or caller.session.dry_run is None
        activation = self._skills.activate(caller.call_context(), request.skill_name, records)
        return await await_in_run(caller.session, activation)


class FileActions:
    def __init__(self, files: Files) -> None:
        self._files = files

    def handlers(self) -> dict[str, Handler]:
        return {"get_file": self.get}

    async def get(self, caller: ActionCaller, request: GetFile) -> FileChunk:
        read = self._files.read(request.file_key, request.offset, request.length)
        return await await_in_run(caller.session, read)

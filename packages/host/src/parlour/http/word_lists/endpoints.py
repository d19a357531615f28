"""Endpoints to create, read, change and delete word lists."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from parlour.core.config.word_lists import WordListRepository
from parlour.core.journal import Insert
from parlour.core.message_policy.references import uses_list
from parlour.core.model import regex_budget
from parlour.core.model.ids import WordListId
from parlour.core.model.ports import Clock, Ids
from parlour.core.model.word_list import WordList
from parlour.core.pagination import Cursors

from ..api_router import ApiRouter
from ..crud import ConfigResource, CrudOperations, CrudSchemas, Name, add_crud_routes, without_wait
from ..errors import Problem
from ..principals import Principal
from ..responses import Id, Json

MAX_WORDS = 50_000
"""Words of one list."""
MAX_PATTERNS = 500
"""Expressions of one list; all of them share the time budget of a message."""
UsedPolicies = Callable[[], Iterable[Mapping[str, Any]]]


class WordListBody(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"name": "Sensitive words", "words": ["secret"]}]}
    )

    name: Name
    words: list[Annotated[str, Field(min_length=1, max_length=200)]] = Field(default=[], max_length=MAX_WORDS)
    patterns: list[Annotated[str, Field(min_length=1, max_length=1000)]] = Field(default=[], max_length=MAX_PATTERNS)

    @field_validator("patterns")
    @classmethod
    def _compile(cls, patterns: list[str]) -> list[str]:
        for number, pattern in enumerate(patterns):
            problem = regex_budget.pattern_problem(pattern)
            if problem:
                message = "expression {number}: {problem}"
                raise PydanticCustomError("text_regex", message, {"number": number, "problem": problem})
        return patterns


class WordListResponse(TypedDict):
    list_id: Id
    name: str
    words: list[str]
    patterns: list[str]


def router(
    repository: WordListRepository, policies: UsedPolicies, cursors: Cursors, ids: Ids, clock: Clock
) -> APIRouter:
    routes = ApiRouter(tags=["message policies"])

    def build(list_id: WordListId, body: WordListBody, before: WordList | None, principal: Principal) -> WordList:
        words = tuple(dict.fromkeys(word.strip() for word in body.words if word.strip()))
        return WordList(list_id, body.name, words, tuple(dict.fromkeys(body.patterns)))

    async def remove(list_id: WordListId, entry: Insert) -> None:
        if uses_list(policies(), list_id):
            message = "a message policy uses this word list; remove it from the filters of agents and routes first"
            raise Problem(409, "in_use", message)
        await repository.remove(list_id, entry)

    add_crud_routes(
        routes,
        ConfigResource("word list", "/word-lists", repository.get, attrgetter("list_id"), _audit_view, cursors, clock),
        CrudSchemas("word_list", "list_id", WordListBody, WordListResponse),
        CrudOperations(repository.all, build, repository.add, repository.replace, remove, without_wait(_to_response)),
        lambda: WordListId(ids.new()),
    )
    return routes


def _to_response(word_list: WordList) -> WordListResponse:
    return {
        "list_id": word_list.list_id,
        "name": word_list.name,
        "words": list(word_list.words),
        "patterns": list(word_list.patterns),
    }


def _audit_view(word_list: WordList) -> Json:
    """Returns the list for the audit: what was changed shows in the numbers, the words are not repeated there."""
    return {
        "list_id": word_list.list_id,
        "name": word_list.name,
        "words": len(word_list.words),
        "patterns": len(word_list.patterns),
    }

"""Collections of vectors that the Host keeps for a plugin, such as a knowledge engine without a store of its own."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from .base import Count, Listed, Strict, Tolerant
from .calls import Call
from .limits import PAGE_ITEMS, RETRIEVED_CHUNKS, VECTOR_IDS, VECTOR_NUMBERS, VECTOR_TEXT_CHARACTERS, VECTORS_AT_ONCE

CollectionName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
VectorId = Annotated[str, StringConstraints(min_length=1, max_length=150)]
Vector = Annotated[list[float], Field(min_length=1, max_length=VECTOR_NUMBERS, fail_fast=True)]


class VectorRecord(Tolerant):
    """A vector with what belongs to it."""

    vector_id: VectorId
    vector: Vector
    text: str = Field(default="", max_length=VECTOR_TEXT_CHARACTERS)
    metadata: dict[str, Any] = {}


class VectorUpsert(Call):
    """Adds vectors to a collection, or replaces those with the same ids. The first ones create it."""

    collection: CollectionName
    vectors: Listed[VectorRecord] = Field(min_length=1, max_length=VECTORS_AT_ONCE)


class VectorSearch(Call):
    """Asks for the nearest vectors of a collection."""

    collection: CollectionName
    vector: Vector
    top_k: int = Field(default=5, ge=1, le=RETRIEVED_CHUNKS)
    filters: dict[str, Any] | None = None
    """Conditions on the metadata, as those of `retrieve_knowledge`."""


class FoundVector(Tolerant):
    """A vector that was found."""

    vector_id: str
    score: float
    """1 - d/2, where d is the cosine distance: 1 for the same direction, 0 for the opposite one."""
    text: str = ""
    metadata: dict[str, Any] = {}


class FoundVectors(Tolerant):
    """The nearest vectors, the best first."""

    hits: Listed[FoundVector] = []


class VectorDelete(Call):
    """Deletes vectors by their ids or by the start of their ids; without both, the whole collection."""

    collection: CollectionName
    vector_ids: list[str] | None = Field(default=None, max_length=VECTOR_IDS)
    prefix: VectorId | None = None


class VectorList(Call):
    """Asks for the ids in a collection, in order."""

    collection: CollectionName
    prefix: str | None = None
    after: str | None = None
    """The last id of the page before."""
    limit: int = Field(default=PAGE_ITEMS, ge=1, le=PAGE_ITEMS)


class VectorPage(Strict):
    """A page of ids, and the number of all vectors in the collection."""

    vector_ids: list[str]
    total: Count = 0
    has_more: bool = False

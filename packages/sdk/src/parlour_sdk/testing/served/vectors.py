"""Keeps the vectors of a test in memory, and searches them exactly."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from parlour_sdk.protocol.calls import Done
from parlour_sdk.protocol.vectors import (
    FoundVector,
    FoundVectors,
    VectorDelete,
    VectorList,
    VectorPage,
    VectorRecord,
    VectorSearch,
    VectorUpsert,
)

from ..gate import Handler
from ..script import Failure
from ..sessions import Caller

_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
    "$in": lambda value, wanted: value in wanted,
    "$nin": lambda value, wanted: value not in wanted,
}


class Vectors:
    """Collections of vectors; a test can read them from `collections`."""

    def __init__(self) -> None:
        self.collections: dict[str, dict[str, VectorRecord]] = {}

    def handlers(self) -> dict[str, Handler]:
        return {
            "vector_upsert": self._upsert,
            "vector_search": self._search,
            "vector_delete": self._delete,
            "vector_list": self._list,
        }

    async def _upsert(self, caller: Caller, request: VectorUpsert) -> Done:
        records = self.collections.get(request.collection, {})
        lengths = {len(each.vector) for each in (*records.values(), *request.vectors)}
        if len(lengths) > 1:
            raise Failure("invalid_argument", "vectors: all vectors of a collection have the same length").exception()
        self.collections[request.collection] = records | {each.vector_id: each for each in request.vectors}
        return Done()

    async def _search(self, caller: Caller, request: VectorSearch) -> FoundVectors:
        accepted = [each for each in self._records(request.collection) if _matches(each.metadata, request.filters)]
        hits = [
            FoundVector(
                vector_id=each.vector_id,
                score=_score(each.vector, request.vector),
                text=each.text,
                metadata=each.metadata,
            )
            for each in accepted
        ]
        return FoundVectors(hits=sorted(hits, key=lambda hit: -hit.score)[: request.top_k])

    async def _delete(self, caller: Caller, request: VectorDelete) -> Done:
        if request.vector_ids is None and request.prefix is None:
            self.collections.pop(request.collection, None)
        for each in self._records(request.collection):
            chosen = request.vector_ids is not None and each.vector_id in request.vector_ids
            if chosen or (request.prefix is not None and each.vector_id.startswith(request.prefix)):
                del self.collections[request.collection][each.vector_id]
        return Done()

    async def _list(self, caller: Caller, request: VectorList) -> VectorPage:
        every = sorted(each.vector_id for each in self._records(request.collection))
        ids = [each for each in every if each.startswith(request.prefix or "") and each > (request.after or "")]
        return VectorPage(vector_ids=ids[: request.limit], total=len(every), has_more=len(ids) > request.limit)

    def _records(self, collection: str) -> list[VectorRecord]:
        return list(self.collections.get(collection, {}).values())


def _score(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    cosine = sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
    return (1 + cosine) / 2


def _matches(metadata: Mapping[str, Any], filters: Mapping[str, Any] | None) -> bool:
    for name, wanted in (filters or {}).items():
        conditions = wanted if isinstance(wanted, dict) else {"$eq": wanted}
        for sign, value in conditions.items():
            if sign not in _OPERATORS:
                raise Failure("invalid_argument", f"filters.{name}: there is no operator '{sign}'").exception()
            try:
                if not _OPERATORS[sign](metadata.get(name), value):
                    return False
            except TypeError:  # a text is neither less nor more than a number
                return False
    return True

"""RetrievalFilters of a search: conditions on a file's fields and metadata, and on the page of a passage.

`{"field": value}` or `{"field": {"$gte": value}}`; all conditions must hold. The Host applies them to its own rows, so
they mean the same with every store of vectors.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from parlour.core.model.knowledge import BaseFile

from .ports import KnowledgeFailed

MAX_CONDITIONS = 20
FILE_FIELDS: Final = ("file_id", "name", "mime_type", "source", "created_at")
PAGE = "page"
_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda value, wanted: bool(value == wanted),
    "$ne": lambda value, wanted: bool(value != wanted),
    "$gt": lambda value, wanted: bool(value > wanted),
    "$gte": lambda value, wanted: bool(value >= wanted),
    "$lt": lambda value, wanted: bool(value < wanted),
    "$lte": lambda value, wanted: bool(value <= wanted),
    "$in": lambda value, wanted: value in wanted,
    "$nin": lambda value, wanted: value not in wanted,
}
Test = tuple[str, str, Any]
"""Field, operator and value."""


class RetrievalFilters:
    """Checked conditions."""

    def __init__(self, tests: list[Test]) -> None:
        self._file_tests = [test for test in tests if test[0] != PAGE]
        self._page_tests = [test for test in tests if test[0] == PAGE]

    @classmethod
    def parse(cls, filters: Mapping[str, Any] | None) -> "RetrievalFilters":
        """Reads filters. Raises KnowledgeFailed that names what is wrong."""
        tests: list[Test] = []
        for name, wanted in (filters or {}).items():
            conditions = wanted if isinstance(wanted, dict) else {"$eq": wanted}
            for operator, value in conditions.items():
                if operator not in _OPERATORS:
                    known = ", ".join(_OPERATORS)
                    raise _invalid(f"filters.{name[:64]}: there is no operator '{operator[:20]}'; there are {known}")
                if operator in ("$in", "$nin") and not isinstance(value, list):
                    raise _invalid(f"filters.{name[:64]}: {operator} takes a list")
                tests.append((name, operator, value))
        if len(tests) > MAX_CONDITIONS:
            raise _invalid(f"filters: at most {MAX_CONDITIONS} conditions")
        return cls(tests)

    @property
    def on_files(self) -> bool:
        return bool(self._file_tests)

    @property
    def on_pages(self) -> bool:
        return bool(self._page_tests)

    def accepts_metadata(self, metadata: Mapping[str, Any]) -> bool:
        """Returns whether all conditions hold for the metadata of a plugin's vector."""
        tests = (*self._file_tests, *self._page_tests)
        return all(_holds(metadata.get(name), operator, value) for name, operator, value in tests)

    def accepts_file(self, file: BaseFile) -> bool:
        return all(_holds(_file_value(file, name), operator, value) for name, operator, value in self._file_tests)

    def accepts_page(self, page: int) -> bool:
        return all(_holds(page, operator, value) for _, operator, value in self._page_tests)


def _file_value(file: BaseFile, name: str) -> Any:
    return getattr(file, name) if name in FILE_FIELDS else file.metadata.get(name)


def _holds(value: Any, operator: str, wanted: Any) -> bool:
    try:
        return _OPERATORS[operator](value, wanted)
    except TypeError:  # a text is neither less nor more than a number
        return False


def _invalid(message: str) -> KnowledgeFailed:
    return KnowledgeFailed("invalid_argument", message)

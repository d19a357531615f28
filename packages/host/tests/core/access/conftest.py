"""Counts the cases of the access matrix, which is told at the end of a test run."""

from collections.abc import Callable

import pytest


class Matrix:
    """How many ways of asking were tried."""

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record

    def count(self) -> None:
        self._record("access_cases", 1)


@pytest.fixture
def matrix(record_property: Callable[[str, object], None]) -> Matrix:
    return Matrix(record_property)

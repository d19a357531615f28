"""Tests that every journal must pass. An implementation joins by a subclass that provides the
`journal` fixture, and sets `number_step` if its numbers are not 1, 2, 3.

The database behind it is empty and has the tables of `core.store.tables`. The tests need pytest and
pytest-asyncio in auto mode.
"""

import pytest

from parlour.core.journal import Journal

from .changes import Changes, Conflicts
from .numbers import Numbers
from .reading import Mistakes, Reading
from .samples import commit, contents, event, filled, insert, meta, searchable
from .searching import Searching
from .units import Units

__all__ = ["JournalContract", "commit", "contents", "event", "filled", "insert", "meta", "searchable"]


class JournalContract(Units, Conflicts, Changes, Numbers, Reading, Mistakes, Searching):
    @pytest.fixture
    async def journal(self) -> Journal:
        raise NotImplementedError("a subclass gives an empty one")

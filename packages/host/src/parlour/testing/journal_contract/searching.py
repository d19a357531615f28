"""Tests that a search finds rows by their words."""

from typing import Any

import pytest

from parlour.core.journal import Delete, Journal, Search, above, one_of, where
from parlour.core.store.tables import TRANSCRIPT

from .samples import commit, searchable

SEARCHED = {"a": "rain today", "b": "rain tomorrow and ever after that too", "c": "rain now", "d": "明 天 明天"}


class Searching:
    async def found(self, journal: Journal, *words: str, **conditions: Any) -> list[str]:
        rows = await journal.search(Search(TRANSCRIPT, "words", words, where(**conditions)))
        return [str(row["transcript_id"]) for row in rows]

    async def test_a_search_finds_rows_that_hold_all_the_words(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, text) for each, text in SEARCHED.items()))
        assert set(await self.found(journal, "rain")) == {"a", "b", "c"}
        assert await self.found(journal, "rain", "tomorrow") == ["b"]
        assert await self.found(journal, "sun") == []
        assert await self.found(journal, "明天") == ["d"]
        assert await self.found(journal, "天") == ["d"]

    async def test_a_search_gives_the_closer_match_first_and_the_newer_among_equals(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, text) for each, text in SEARCHED.items()))
        assert await self.found(journal, "rain") == ["c", "a", "b"]

    async def test_a_search_is_bound_by_its_conditions_and_its_limit(self, journal: Journal) -> None:
        await commit(journal, *(searchable(each, "rain", role=each) for each in "abc"))
        assert await self.found(journal, "rain", role="b") == ["b"]
        assert await self.found(journal, "rain", role=one_of("a", "c"), created_at=above(-1)) == ["c", "a"]
        limited = await journal.search(Search(TRANSCRIPT, "words", ("rain",), limit=2))
        assert [row["transcript_id"] for row in limited] == ["c", "b"]

    @pytest.mark.parametrize("word", ['"', "'", 'a"b', "OR", "NOT", "*", "a:b", "-", "\\", "'&'", "("])
    async def test_words_are_data_and_never_syntax(self, journal: Journal, word: str) -> None:
        await commit(journal, searchable("a", "rain tomorrow"))
        assert await self.found(journal, word) == []

    async def test_what_was_deleted_is_not_found(self, journal: Journal) -> None:
        await commit(journal, searchable("a", "rain"), searchable("b", "rain"))
        await commit(journal, Delete(TRANSCRIPT, where(transcript_id="a")))
        assert await self.found(journal, "rain") == ["b"]

    async def test_a_search_finds_what_there_is_however_rows_came_and_went(self, journal: Journal) -> None:
        """Tests rows that were searched before and rows that were not searched yet; the last one is deleted too."""
        for round_ in range(3):
            await commit(journal, *(searchable(f"{round_}{each}", f"rain {each}") for each in "abcd"))
            if round_ != 1:
                assert await self.found(journal, "rain", "d") == [f"{round_}d"]
            deletions = (Delete(TRANSCRIPT, where(transcript_id=f"{round_}{each}")) for each in "bd")
            await commit(journal, *deletions)
            await commit(journal, searchable(f"{round_}e", "rain e"))
            assert await self.found(journal, "rain", "e") == [f"{each}e" for each in range(round_, -1, -1)]
        assert await self.found(journal, "rain", "d") == []
        assert len(await self.found(journal, "rain")) == 9

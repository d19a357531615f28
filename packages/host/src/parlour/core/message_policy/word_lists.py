"""Makes word lists ready to be searched, once per version of a list."""

from parlour.core.config.word_lists import WordListRepository
from parlour.core.model.ids import WordListId
from parlour.core.model.word_list import WordList

from .filters import EMPTY_LIST, CompiledList
from .words import WordMatcher


class CompiledWordLists:
    """Compiles word lists when they are first used, and again after they were changed."""

    def __init__(self, lists: WordListRepository) -> None:
        self._lists = lists
        self._compiled: dict[str, tuple[WordList, CompiledList]] = {}

    def find(self, list_id: str) -> CompiledList:
        """Returns a list that is ready to be searched; an empty one if it does not exist any more."""
        word_list = self._lists.get(WordListId(list_id))
        if word_list is None:
            self._compiled.pop(list_id, None)
            return EMPTY_LIST
        cached = self._compiled.get(list_id)
        if cached is None or cached[0] is not word_list:
            compiled = CompiledList(word_list.words, word_list.patterns, WordMatcher(word_list.words))
            cached = self._compiled[list_id] = (word_list, compiled)
        return cached[1]

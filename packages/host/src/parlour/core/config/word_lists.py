"""Repository of word lists."""

from parlour.core.journal import Journal
from parlour.core.model.ids import WordListId
from parlour.core.model.ports import Clock
from parlour.core.model.word_list import WordList
from parlour.core.store.tables import WORD_LISTS

from .cached_repository import CachedRepository, RowMapping, UnitNames

WORD_LIST_ROWS = RowMapping[WordListId, WordList](
    WORD_LISTS,
    UnitNames(add="word_list.add", replace="word_list.replace", remove="word_list.remove"),
    item_id=lambda word_list: word_list.list_id,
    encode=lambda word_list: {"definition": word_list.encode()},
    decode=lambda row: WordList.decode(row["definition"]),
)


class WordListRepository(CachedRepository[WordListId, WordList]):
    """All word lists."""

    def __init__(self, journal: Journal, clock: Clock) -> None:
        super().__init__(journal, clock, WORD_LIST_ROWS)

"""Lists of words and regular expressions, which filters of several message policies share."""

from dataclasses import asdict

from parlour.core.encoding import dumps, loads
from parlour_sdk.values import dataclass

from .ids import WordListId


@dataclass(frozen=True, slots=True)
class WordList:
    """A named list of words. Words are literal; patterns are regular expressions."""

    list_id: WordListId
    name: str
    words: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()

    def encode(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def decode(cls, text: str) -> "WordList":
        fields = loads(text)
        return cls(fields["list_id"], fields["name"], tuple(fields["words"]), tuple(fields["patterns"]))

"""Parses sentence templates with values in braces, matches sentences against them and fills them in."""

import string
from collections.abc import Mapping

from parlour_sdk.values import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with placeholders."""

    literals: tuple[str, ...]
    """The text around the values; always one item more than there are values."""
    names: tuple[str, ...]
    """The names of the values; those without a name are numbered from 0."""

    @property
    def weight(self) -> int:
        """The number of literal characters; the larger, the more specific the template."""
        return sum(map(len, self.literals))

    @property
    def verbatim(self) -> frozenset[str]:
        """The names of values that are never translated: between quotation marks, or a field before a colon."""
        surroundings = zip(self.names, self.literals, self.literals[1:], strict=False)
        return frozenset(name for name, before, after in surroundings if _is_name(before, after))

    def match(self, text: str) -> dict[str, str] | None:
        """Returns the values with which this template makes the text; None if it can't. Takes linear time."""
        first, last = self.literals[0], self.literals[-1]
        if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
            return None
        values: dict[str, str] = {}
        start, end = len(first), len(text) - len(last)
        for name, literal in zip(self.names[:-1], self.literals[1:-1], strict=True):
            literal_start = text.find(literal, start, end)
            if literal_start < 0:
                return None
            values[name] = text[start:literal_start]
            start = literal_start + len(literal)
        values[self.names[-1]] = text[start:end]
        return values

    def fill(self, values: Mapping[str, str]) -> str:
        """Inserts the values, with a space between Chinese and Latin characters and none between Chinese ones."""
        text = self.literals[0]
        for name, literal in zip(self.names, self.literals[1:], strict=True):
            text = _join(_join(text, values[name]), literal)
        return text


def _join(left: str, right: str) -> str:
    before, after = left.rstrip(" ")[-1:], right.lstrip(" ")[:1]
    if _is_chinese(before) and _is_chinese(after):
        return left.rstrip(" ") + right.lstrip(" ")
    is_adjacent = before == left[-1:] and after == right[:1]
    if is_adjacent and ((_is_chinese(before) and _is_latin(after)) or (_is_latin(before) and _is_chinese(after))):
        return f"{left} {right}"
    return left + right


def _is_chinese(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_name(before: str, after: str) -> bool:
    if before.endswith("'") and after.startswith("'"):
        return True
    return (not before or before.endswith(".")) and after.startswith((": ", "."))


def parse(text: str) -> Template:
    """Reads `{}`, `{0}` and `{name}` as values, `{{` and `}}` as braces. Raises ValueError for other braces."""
    literals, names = [""], list[str]()
    for literal, field, _, _ in string.Formatter().parse(text):
        literals[-1] += literal
        if field is not None:
            names.append(field or str(len(names)))
            literals.append("")
    return Template(tuple(literals), tuple(names))

"""Lays out a table as text in columns, for platforms without tables."""

from collections.abc import Sequence
from unicodedata import east_asian_width


def align_table(rows: Sequence[Sequence[str]]) -> str:
    """Returns the rows as lines of equal width, with a rule below the first one."""
    if not rows:
        return ""
    columns = max(len(row) for row in rows)
    filled = [[*row, *[""] * (columns - len(row))] for row in rows]
    widths = [max(display_width(row[column]) for row in filled) for column in range(columns)]
    lines = [" | ".join(_padded(cell, widths[number]) for number, cell in enumerate(row)).rstrip() for row in filled]
    rule = "-+-".join("-" * each for each in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def display_width(text: str) -> int:
    """Returns the display width in columns; a Chinese character takes two."""
    return sum(2 if east_asian_width(each) in "WF" else 1 for each in text)


def _padded(text: str, columns: int) -> str:
    return text + " " * (columns - display_width(text))

"""Builds the columns of tables. An absent value is an empty string or zero; times are epoch milliseconds."""

from parlour.core.journal import Column


def columns(text: str = "", integer: str = "") -> tuple[Column, ...]:
    """Returns columns of text and of integers, by their names."""
    return tuple(Column(name) for name in text.split()) + tuple(Column(name, "integer") for name in integer.split())

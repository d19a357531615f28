"""Handles reasoning that some models write into their text, in a `<think>` block at its beginning."""

_OPEN, _CLOSE = "<think>", "</think>"


def strip_reasoning(text: str, growing: bool = False) -> str:
    """Returns the text without its reasoning block; empty while the block is open or could still begin."""
    head = text.lstrip()
    if not head.startswith(_OPEN):
        return "" if growing and _OPEN.startswith(head) else text
    _, closed, said = head.partition(_CLOSE)
    return said.lstrip() if closed else ""


def quote_reasoning(reasoning: str) -> str:
    """Formats reasoning as a Markdown quote."""
    lines = reasoning.strip().splitlines()
    return "".join(f"> {line}\n" for line in lines) + "\n"

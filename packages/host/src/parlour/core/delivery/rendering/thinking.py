"""What a model thought before it spoke. Some write it into their text, in a block at its head."""

_OPEN, _CLOSE = "<think>", "</think>"


def spoken(text: str, growing: bool = False) -> str:
    """The text without such a block. While the block is open, or may yet begin, nothing was said."""
    head = text.lstrip()
    if not head.startswith(_OPEN):
        return "" if growing and _OPEN.startswith(head) else text
    _, closed, said = head.partition(_CLOSE)
    return said.lstrip() if closed else ""


def quoted(reasoning: str) -> str:
    lines = reasoning.strip().splitlines()
    return "".join(f"> {line}\n" for line in lines) + "\n"

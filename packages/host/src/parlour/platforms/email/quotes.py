"""Separates what the author of a mail wrote from the quoted mail below it and from the signature."""

import re

_ATTRIBUTION = re.compile(
    r"^\s*(on\b.{5,200}\bwrote|am\b.{5,200}\bschrieb\b.{0,100}|le\b.{5,200}\ba écrit|el\b.{5,200}\bescribió"
    r"|在.{3,200}写道|.{3,200}于.{3,100}写道|.{3,200}寫道)\s*[:：]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_SEPARATOR = re.compile(
    r"^\s*(-{2,}\s*(original message|forwarded message|ursprüngliche nachricht|原始邮件|转发邮件|原郵件)\s*-{2,}"
    r"|_{20,}|begin forwarded message:|(发件人|寄件者)\s*[:：].*)\s*$",
    re.IGNORECASE,
)
_FORWARDED_HEADER = re.compile(r"^\s*\*?(from|von|de)\*?\s*:", re.IGNORECASE)
_SECOND_HEADER = re.compile(r"^\s*\*?(sent|date|to|gesendet|envoyé|datum)\*?\s*:", re.IGNORECASE)
_SIGNATURE = re.compile(r"\n-- ?\n")


def split_quote(text: str) -> tuple[str, str]:
    """Returns the author's own text and the quoted text. Without any own text, the whole text is the author's."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = _quote_start(lines)
    own, quoted = "\n".join(lines[:start]), "\n".join(lines[start:])
    own = _SIGNATURE.split(f"\n{own}\n", maxsplit=1)[0].strip()
    return (own, quoted.strip()) if own else (text.strip(), "")


def _quote_start(lines: list[str]) -> int:
    """Returns the index of the first line that belongs to the quote at the end."""
    for index, line in enumerate(lines):
        if _SEPARATOR.match(line) or _is_attribution(lines, index) or _is_forwarded_header(lines, index):
            return index
    end = len(lines)
    while end and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith(">")):
        end -= 1
    return end


def _is_attribution(lines: list[str], index: int) -> bool:
    """Returns whether a line such as "On ... wrote:" begins here; mail programs wrap it."""
    if not lines[index].strip():
        return False
    return any(_ATTRIBUTION.match("\n".join(lines[index : index + count])) for count in (1, 2, 3))


def _is_forwarded_header(lines: list[str], index: int) -> bool:
    if not _FORWARDED_HEADER.match(lines[index]):
        return False
    return any(_SECOND_HEADER.match(line) for line in lines[index + 1 : index + 3])

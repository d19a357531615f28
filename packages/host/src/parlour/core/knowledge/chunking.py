"""Cuts the sections of a file into passages: by headings first, then paragraphs, sentences and, last, characters.

Tables and code stay whole where they are not too long; a table that is cut repeats its header. An overlap joins the
passages of one section.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Literal

from parlour.core.model.knowledge import ChunkSettings, Passage
from parlour_sdk.values import dataclass

BlockKind = Literal["text", "table", "code", "row"]
WHOLE_BLOCK_TOKENS = 1000
"""Tokens up to which a table or a block of code is not cut."""
MAX_HEADING_CHARACTERS = 300
HEADING_SEPARATOR = " › "
_IDEOGRAPH = re.compile("[\u3005\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_WORD = re.compile(r"[^\W\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_SENTENCE = re.compile(r".+?(?:[.!?]+[\"')\]]*(?=\s)|[。！？；…]+[」』”）]*|\n|$)\s*", re.DOTALL)
QUESTION_NAMES = frozenset(("question", "questions", "q", "ask", "问题", "问", "提问", "标准问题", "質問"))
ANSWER_NAMES = frozenset(("answer", "answers", "a", "reply", "答案", "回答", "答", "答复", "標準答案"))
_QUESTION_LINE = re.compile(r"^\s*(?:q|question|问|问题)\s*[:：]\s*(.+)$", re.IGNORECASE)
_ANSWER_LINE = re.compile(r"^\s*(?:a|answer|答|答案|回答)\s*[:：]\s*(.*)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a file's text: a paragraph, a table, code, or one row of a sheet."""

    text: str
    headings: tuple[str, ...] = ()
    page: int = 0
    kind: BlockKind = "text"
    cells: Mapping[str, str] = field(default_factory=dict)
    """Values of a row, by the names of their columns."""


def count_tokens(text: str) -> int:
    """Estimates the tokens of a text: one for each ideograph, and 1.3 for each other word."""
    return len(_IDEOGRAPH.findall(text)) + round(len(_WORD.findall(text)) * 1.3)


def cut(blocks: Iterable[Block], settings: ChunkSettings) -> Iterator[Passage]:
    """Yields the passages of a file in order."""
    match settings.chunker:
        case "qa":
            passages = _questions(blocks)
        case "rows":
            passages = (_of_block(block) for block in blocks)
        case "general":
            passages = _by_structure(blocks, settings)
    position = offset = 0
    for passage in passages:
        if passage.text.strip():
            end = offset + len(passage.text)
            yield replace(
                passage, position=position, char_start=offset, char_end=end, tokens=count_tokens(passage.text)
            )
            position, offset = position + 1, end + 2


def _by_structure(blocks: Iterable[Block], settings: ChunkSettings) -> Iterator[Passage]:
    packer = _Packer(settings)
    for block in blocks:
        yield from packer.add(block)
    yield from packer.finish()


class _Packer:
    """Collects the pieces of one section until a passage is full."""

    def __init__(self, settings: ChunkSettings) -> None:
        self._limit = settings.tokens
        self._overlap = min(settings.overlap, settings.tokens // 2)
        self._section: tuple[tuple[str, ...], int] = ((), 0)
        self._pieces: list[tuple[str, int]] = []
        """Pieces of the current passage with their tokens."""
        self._repeated = 0
        """Number of pieces at the beginning that the passage before has too."""

    def add(self, block: Block) -> Iterator[Passage]:
        section = (block.headings, block.page)
        if section != self._section:
            yield from self.finish()
            self._section = section
        for piece in _pieces(block, self._limit):
            tokens = count_tokens(piece)
            if self._pieces and self._tokens() + tokens > self._limit:
                yield from self._flush(keep_end=block.kind == "text")
            self._pieces.append((piece, tokens))

    def finish(self) -> Iterator[Passage]:
        yield from self._flush(keep_end=False)

    def _tokens(self) -> int:
        return sum(tokens for _, tokens in self._pieces)

    def _flush(self, keep_end: bool) -> Iterator[Passage]:
        if len(self._pieces) > self._repeated:
            text = "".join(piece for piece, _ in self._pieces).strip()
            headings, page = self._section
            yield Passage(text, join_headings(headings), page=page)
        kept: list[tuple[str, int]] = []
        while keep_end and self._pieces and sum(tokens for _, tokens in kept) + self._pieces[-1][1] <= self._overlap:
            kept.insert(0, self._pieces.pop())
        self._pieces, self._repeated = kept, len(kept)


def join_headings(headings: Sequence[str]) -> str:
    return HEADING_SEPARATOR.join(filter(None, headings))[:MAX_HEADING_CHARACTERS]


def _pieces(block: Block, limit: int) -> Iterator[str]:
    """Yields the smallest parts of a block that passages are made of; each is within the limit."""
    if block.kind in ("table", "code") and count_tokens(block.text) <= max(limit, WHOLE_BLOCK_TOKENS):
        yield f"{block.text}\n\n"
    elif block.kind == "table":
        yield from _table_parts(block.text, limit)
    elif block.kind in ("code", "row"):
        yield from _lines(block.text, limit)
    else:
        for sentence in _SENTENCE.findall(f"{block.text.strip()}\n\n"):
            yield from _within(sentence, limit)


def _table_parts(text: str, limit: int) -> Iterator[str]:
    """Yields parts of a table in Markdown, each with the header."""
    lines = text.splitlines()
    header = lines[:2] if len(lines) > 1 and set(lines[1]) <= set("|-: ") else lines[:1]
    head = "\n".join(header) + "\n"
    part, tokens = "", 0
    for line in lines[len(header) :]:
        size = count_tokens(line)
        if part and tokens + size > limit - count_tokens(head):
            yield f"{head}{part}\n"
            part, tokens = "", 0
        part, tokens = f"{part}{line}\n", tokens + size
    if part:
        yield f"{head}{part}\n"


def _lines(text: str, limit: int) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        yield from _within(line if line.endswith("\n") else f"{line}\n", limit)


def _within(text: str, limit: int) -> Iterator[str]:
    """Yields a text that is too long in parts, at spaces where there are any."""
    while count_tokens(text) > limit or len(text) > limit * 40:
        end = min(limit if _IDEOGRAPH.search(text[:limit]) else limit * 4, limit * 40)
        space = text.rfind(" ", end // 2, end)
        yield text[: space + 1 if space > 0 else end]
        text = text[space + 1 if space > 0 else end :]
    yield text


def _of_block(block: Block) -> Passage:
    return Passage(block.text.strip(), join_headings(block.headings), page=block.page)


def _questions(blocks: Iterable[Block]) -> Iterator[Passage]:
    """Yields one passage per question and answer: from rows with two such columns, or from lines `Q:` and `A:`."""
    for block in blocks:
        if block.kind == "row" and len(block.cells) >= 2:
            question, answer = _question_and_answer(block.cells)
            yield replace(_of_block(block), text=f"{question}\n{answer}", hints=question)
        else:
            yield from _question_lines(block)


def _question_and_answer(cells: Mapping[str, str]) -> tuple[str, str]:
    names = {name.strip().lower(): value for name, value in cells.items()}
    values = list(cells.values())
    question = next((value for name, value in names.items() if name in QUESTION_NAMES), values[0])
    answer = next((value for name, value in names.items() if name in ANSWER_NAMES), values[1])
    return question, answer


def _question_lines(block: Block) -> Iterator[Passage]:
    question, answer = "", list[str]()
    rest: list[str] = []
    for line in block.text.splitlines():
        if found := _QUESTION_LINE.match(line):
            if question:
                yield _answered(block, question, answer)
            question, answer = found[1].strip(), []
        elif question:
            found = _ANSWER_LINE.match(line)
            answer.append(found[1] if found else line)
        else:
            rest.append(line)
    if question:
        yield _answered(block, question, answer)
    if any(line.strip() for line in rest):
        yield replace(_of_block(block), text="\n".join(rest).strip())


def _answered(block: Block, question: str, answer: list[str]) -> Passage:
    return replace(_of_block(block), text="\n".join((question, *answer)).strip(), hints=question)

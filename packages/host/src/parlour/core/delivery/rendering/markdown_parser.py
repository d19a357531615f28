"""Builds the Markdown parser for texts of models.

It differs from CommonMark in what a run of `*` means. Beside Chinese, Japanese and Korean characters it may open
and close emphasis also next to punctuation, as in `**注意：**请`, since these languages put no space there.
Between ASCII letters or digits it is an operator, as in `x**2 + y**2`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline

FIRST_CJK = "\u2e80"


def markdown_parser(breaks: bool = False) -> "MarkdownIt":
    """Builds a parser with tables and strikethrough; raw HTML is text. `breaks` keeps line breaks."""
    from markdown_it import MarkdownIt  # importing it takes a tenth of a second, and most texts have no markup

    parser = MarkdownIt("commonmark", {"html": False, "breaks": breaks}).enable(["table", "strikethrough"])
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


def _emphasis(state: "StateInline", silent: bool) -> bool:
    from markdown_it.rules_inline.emphasis import tokenize

    start, known = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    before, after = state.src[start - 1 : start], state.src[state.pos : state.pos + 1]
    if state.src[start] == "*":
        for delimiter in state.delimiters[known:]:
            if _is_ascii_word(before) and _is_ascii_word(after):
                delimiter.open = delimiter.close = False
            elif _is_cjk(before) or _is_cjk(after):
                delimiter.open, delimiter.close = bool(after.strip()), bool(before.strip())
    return True


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_cjk(character: str) -> bool:
    return character >= FIRST_CJK

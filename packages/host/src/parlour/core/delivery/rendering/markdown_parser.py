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


def markdown_parser(keep_line_breaks: bool = False) -> "MarkdownIt":
    """Builds a parser with tables and strikethrough; raw HTML is text. Line breaks are kept on request."""
    from markdown_it import MarkdownIt  # importing it takes a tenth of a second, and most texts have no markup

    parser = MarkdownIt("commonmark", {"html": False, "breaks": keep_line_breaks}).enable(["table", "strikethrough"])
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


def _emphasis(state: "StateInline", silent: bool) -> bool:
    from markdown_it.rules_inline.emphasis import tokenize

    start, delimiter_count = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    previous_character, next_character = state.src[start - 1 : start], state.src[state.pos : state.pos + 1]
    if state.src[start] == "*":
        for delimiter in state.delimiters[delimiter_count:]:
            if _is_ascii_word(previous_character) and _is_ascii_word(next_character):
                delimiter.open = delimiter.close = False
            elif _is_cjk(previous_character) or _is_cjk(next_character):
                delimiter.open, delimiter.close = bool(next_character.strip()), bool(previous_character.strip())
    return True


def _is_ascii_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _is_cjk(character: str) -> bool:
    return character >= FIRST_CJK

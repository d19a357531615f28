"""Shortens texts that are too long: the beginning and the end stay, with a note of what was left out."""

from . import token_estimates

MIN_CHARACTERS = 40
HEAD_SHARE = 0.7
"""Share of the beginning in an excerpt."""


def head_and_tail(text: str, characters: int, hint: str = "") -> str:
    """Returns a text of about so many characters; `hint` says where the whole text is."""
    if len(text) <= characters:
        return text
    head = int(characters * HEAD_SHARE)
    tail = characters - head
    left_out = f"\n... ({len(text) - characters} of {len(text)} characters left out{f'; {hint}' if hint else ''}) ...\n"
    return f"{text[:head]}{left_out}{text[len(text) - tail :]}"


def to_tokens(text: str, tokens: int) -> str:
    """Returns a text of at most so many estimated tokens; a very small number leaves a few characters."""
    shortened, characters = text, len(text)
    while token_estimates.estimate_text(shortened) > tokens and characters > MIN_CHARACTERS:
        share = tokens / max(1, token_estimates.estimate_text(shortened))
        characters = max(MIN_CHARACTERS, int(min(characters * 0.9, characters * share)))
        shortened = head_and_tail(text, characters)
    return shortened

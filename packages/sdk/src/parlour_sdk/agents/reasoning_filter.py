"""Separates reasoning from text in answers that contain both as <think>...</think>."""

OPENING_MARK, CLOSING_MARK = "<think>", "</think>"


class ReasoningFilter:
    """Splits fragments into (text, reasoning). Only a <think> block at the beginning of an answer is reasoning."""

    def __init__(self) -> None:
        self._buffer = ""
        self._state = "beginning"

    def feed(self, fragment: str) -> tuple[str, str]:
        """Adds a fragment; returns the text and the reasoning that are certain by now."""
        if self._state == "saying":
            return fragment, ""
        self._buffer += fragment
        if self._state == "beginning":
            stripped = self._buffer.lstrip()
            if OPENING_MARK.startswith(stripped[: len(OPENING_MARK)]) and len(stripped) < len(OPENING_MARK):
                return "", ""
            if not stripped.startswith(OPENING_MARK):
                return self._end_reasoning("", self._buffer)
            self._state, self._buffer = "thinking", stripped[len(OPENING_MARK) :]
        return self._split_reasoning()

    def end(self) -> tuple[str, str]:
        """Returns the rest that was held back because it might have been part of a mark."""
        held, self._buffer = self._buffer, ""
        return ("", held) if self._state == "thinking" else (held, "")

    def _split_reasoning(self) -> tuple[str, str]:
        reasoning, mark, rest = self._buffer.partition(CLOSING_MARK)
        if mark:
            return self._end_reasoning(reasoning, rest)
        safe = len(reasoning) - _overlap(reasoning)
        self._buffer = reasoning[safe:]
        return "", reasoning[:safe]

    def _end_reasoning(self, reasoning: str, rest: str) -> tuple[str, str]:
        self._state, self._buffer = "saying", ""
        return rest, reasoning


def _overlap(text: str) -> int:
    """Returns the number of trailing characters that may be the beginning of the closing mark."""
    return next((size for size in range(len(CLOSING_MARK) - 1, 0, -1) if text.endswith(CLOSING_MARK[:size])), 0)

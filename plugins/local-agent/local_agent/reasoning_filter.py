"""Separates reasoning from text in answers that contain both as <think>...</think>."""

OPENING_MARK, CLOSING_MARK = "<think>", "</think>"


class ReasoningFilter:
    """Splits fragments into (text, reasoning). Only a <think> block at the beginning of an answer is reasoning."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "beginning"

    def feed(self, fragment: str) -> tuple[str, str]:
        if self._state == "saying":
            return fragment, ""
        self._held += fragment
        if self._state == "beginning":
            begun = self._held.lstrip()
            if OPENING_MARK.startswith(begun[: len(OPENING_MARK)]) and len(begun) < len(OPENING_MARK):
                return "", ""
            if not begun.startswith(OPENING_MARK):
                return self._end_reasoning("", self._held)
            self._state, self._held = "thinking", begun[len(OPENING_MARK) :]
        return self._split_reasoning()

    def end(self) -> tuple[str, str]:
        """Returns the rest that was held back because it might have been part of a mark."""
        held, self._held = self._held, ""
        return ("", held) if self._state == "thinking" else (held, "")

    def _split_reasoning(self) -> tuple[str, str]:
        thought, mark, rest = self._held.partition(CLOSING_MARK)
        if mark:
            return self._end_reasoning(thought, rest)
        safe = len(thought) - _overlap(thought)
        self._held = thought[safe:]
        return "", thought[:safe]

    def _end_reasoning(self, thought: str, rest: str) -> tuple[str, str]:
        self._state, self._held = "saying", ""
        return rest, thought


def _overlap(text: str) -> int:
    """Returns the number of trailing characters that may be the beginning of the closing mark."""
    return next((size for size in range(len(CLOSING_MARK) - 1, 0, -1) if text.endswith(CLOSING_MARK[:size])), 0)

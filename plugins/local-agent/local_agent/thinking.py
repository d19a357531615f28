"""Separates reasoning from text in answers that contain both as <think>...</think>."""

OPENING, CLOSING = "<think>", "</think>"


class Thinking:
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
            if OPENING.startswith(begun[: len(OPENING)]) and len(begun) < len(OPENING):
                return "", ""
            if not begun.startswith(OPENING):
                return self._say("", self._held)
            self._state, self._held = "thinking", begun[len(OPENING) :]
        return self._think()

    def end(self) -> tuple[str, str]:
        """Returns the rest that was held back because it might have been part of a mark."""
        held, self._held = self._held, ""
        return ("", held) if self._state == "thinking" else (held, "")

    def _think(self) -> tuple[str, str]:
        thought, mark, rest = self._held.partition(CLOSING)
        if mark:
            return self._say(thought, rest)
        safe = len(thought) - _overlap(thought)
        self._held = thought[safe:]
        return "", thought[:safe]

    def _say(self, thought: str, rest: str) -> tuple[str, str]:
        self._state, self._held = "saying", ""
        return rest, thought


def _overlap(text: str) -> int:
    """Returns the number of trailing characters that may be the beginning of the closing mark."""
    return next((size for size in range(len(CLOSING) - 1, 0, -1) if text.endswith(CLOSING[:size])), 0)

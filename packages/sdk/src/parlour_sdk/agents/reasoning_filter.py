"""Separates what a model wrote into text, reasoning and tool calls, by the marks that common templates leave in it.

Reasoning is `<think>...</think>` and its relatives, anywhere in the text, and everything before a closing mark that was
never opened. Tool calls are `<tool_call>{...}</tool_call>`. Marks in backquotes are text.
"""

import json
import re
from typing import Any

REASONING_MARKS = ("think", "thinking", "thought", "reasoning")
CALL_MARK = "tool_call"
_NAMES = "|".join((*REASONING_MARKS, CALL_MARK))
_MARK = re.compile(rf"(?<!`)<(/?)({_NAMES})>")
LONGEST_MARK = max(len(f"</{name}>") for name in (*REASONING_MARKS, CALL_MARK))


class ReasoningFilter:
    """Splits fragments into (text, reasoning)."""

    def __init__(self) -> None:
        self._buffer = ""
        self._inside = ""
        """Name of the mark that is open; empty in text."""
        self._call = ""
        self.calls: list[dict[str, Any]] = []
        """Tool calls that were written as text, each with name and arguments."""
        self.retracted = False
        """True if all text before was reasoning, because its closing mark came without an opening one."""
        self._has_reasoning = False
        self._last = ""
        """The character before the buffer, which may be a backquote."""

    def feed(self, fragment: str) -> tuple[str, str]:
        """Adds a fragment; returns the text and the reasoning that are certain by now."""
        self._buffer += fragment
        return self._split(at_end=False)

    def end(self) -> tuple[str, str]:
        """Returns the rest that was held back because it might have been part of a mark."""
        text, reasoning = self._split(at_end=True)
        if self._call and not self._parse_call(self._call):
            text += f"<{CALL_MARK}>{self._call}"
        self._call = ""
        return text, reasoning

    def _split(self, at_end: bool) -> tuple[str, str]:
        text, reasoning, position = "", "", 0
        for match in _MARK.finditer(self._buffer):
            if match.start() == 0 and self._last == "`":
                continue
            before = self._buffer[position : match.start()]
            is_closing, name = bool(match[1]), match[2]
            if self._inside and not (is_closing and name == self._inside):
                continue  # a mark inside a block of another kind belongs to the block
            position = match.end()
            if self._inside:
                added_text, added_reasoning = self._in_block(before)
                text, reasoning = text + added_text, reasoning + added_reasoning
                self._close_block()
            elif is_closing and name != CALL_MARK:
                if self._has_reasoning:
                    text += before
                else:
                    self.retracted, reasoning, text = True, reasoning + text + before, ""
                    self._has_reasoning = True
            elif is_closing:
                text += before
            else:
                text, self._inside = text + before, name
                self._has_reasoning = self._has_reasoning or name != CALL_MARK
        rest = self._buffer[position:]
        keep = 0 if at_end else _possible_mark(rest)
        certain, held = rest[: len(rest) - keep], rest[len(rest) - keep :]
        added_text, added_reasoning = self._in_block(certain) if self._inside else (certain, "")
        self._last = self._buffer[: len(self._buffer) - keep][-1:] or self._last
        self._buffer = held
        return text + added_text, reasoning + added_reasoning

    def _in_block(self, content: str) -> tuple[str, str]:
        if self._inside != CALL_MARK:
            return "", content
        self._call += content
        return "", ""

    def _close_block(self) -> None:
        if self._inside == CALL_MARK:
            self._parse_call(self._call)
            self._call = ""
        self._inside = ""

    def _parse_call(self, content: str) -> bool:
        try:
            value = json.loads(content)
        except ValueError:
            return False
        match value:
            case {"name": str() as name}:
                self.calls.append({"name": name, "arguments": value.get("arguments", value.get("parameters")) or {}})
                return True
        return False


def _possible_mark(text: str) -> int:
    """Returns the number of trailing characters that may be the beginning of a mark."""
    start = text.rfind("<", max(0, len(text) - LONGEST_MARK))
    if start < 0 or ">" in text[start:]:
        return 0
    tail = text[start:]
    names = (*REASONING_MARKS, CALL_MARK)
    is_mark = any(f"<{slash}{name}>".startswith(tail) for name in names for slash in ("", "/"))
    return len(text) - start if is_mark else 0

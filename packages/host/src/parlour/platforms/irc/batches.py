"""Reads batches of IRCv3: the lines of a multiline message become one line, and lines of the past are counted."""

from dataclasses import field

from parlour_sdk.values import dataclass

from .lines import IrcLine

MULTILINE, CHATHISTORY = "draft/multiline", "chathistory"
CONCAT_TAG = "draft/multiline-concat"
MAX_OPEN_BATCHES = 20
MAX_LINES, MAX_CHARACTERS = 500, 64 * 1024
"""What is kept of one multiline message."""


@dataclass(slots=True)
class _Batch:
    opening: IrcLine
    kind: str
    lines: list[IrcLine] = field(default_factory=list)
    characters: int = 0

    def add(self, line: IrcLine) -> None:
        self.characters += len(line.last)
        if len(self.lines) < MAX_LINES and self.characters <= MAX_CHARACTERS:
            self.lines.append(line)

    def message(self) -> IrcLine | None:
        """Returns the message that the lines make. Its id and time are those of the batch."""
        if not self.lines:
            return None
        first, content = self.lines[0], ""
        for place, each in enumerate(self.lines):
            content += ("" if place == 0 or CONCAT_TAG in each.tags else "\n") + each.last
        tags = {**first.tags, **self.opening.tags}
        text = "\n".join(each.text for each in (self.opening, *self.lines))
        return IrcLine(text, tags, first.source, first.command, (first.param(0), content))


class BatchReader:
    """The open batches of one connection."""

    def __init__(self) -> None:
        self._open: dict[str, _Batch] = {}
        self.past_lines = 0
        """Number of lines so far that were said before the connection."""

    def read(self, line: IrcLine) -> IrcLine | None:
        """Returns the line to be handled, perhaps made of several; None if others have to come first."""
        if line.command == "BATCH":
            return self._begin_or_end(line)
        batch = self._open.get(line.tags.get("batch", ""))
        if batch is None:
            return line
        if batch.kind == CHATHISTORY:
            self.past_lines += 1
        if batch.kind != MULTILINE or line.command not in ("PRIVMSG", "NOTICE"):
            return line
        batch.add(line)
        return None

    def _begin_or_end(self, line: IrcLine) -> IrcLine | None:
        name = line.param(0)
        if name.startswith("+"):
            if len(self._open) >= MAX_OPEN_BATCHES:
                self._open.pop(next(iter(self._open)))
            self._open[name[1:]] = _Batch(line, line.param(1))
            return None
        batch = self._open.pop(name[1:], None)
        if batch is None or batch.kind != MULTILINE:
            return None
        outer = self._open.get(batch.opening.tags.get("batch", ""))
        if outer is not None and outer.kind == CHATHISTORY:
            self.past_lines += 1
        return batch.message()

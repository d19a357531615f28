"""Reads input lines and writes output of a chat. Input may be a terminal, a pipe or a file."""

import asyncio
import codecs
import os
import threading
from collections.abc import Iterator
from typing import TextIO

PROMPT = "> "
NOTE_PREFIX = "· "
BLOCK_BYTES = 65536

LineQueue = asyncio.Queue[str | None]
"""Input lines, then None at the end of the input."""


def read_lines(descriptor: int) -> LineQueue:
    """Reads lines in a daemon thread, which works for a terminal, a pipe and a file; it ends with the process."""
    loop = asyncio.get_running_loop()
    queue: LineQueue = asyncio.Queue()

    def read() -> None:
        for line in _lines(descriptor):
            loop.call_soon_threadsafe(queue.put_nowait, line)
        loop.call_soon_threadsafe(queue.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    return queue


def _lines(descriptor: int) -> Iterator[str]:
    """Yields lines from the descriptor.

    It bypasses the buffer of `sys.stdin`, because a thread that holds that buffer would block the exit of the process.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    unfinished = ""
    while block := os.read(descriptor, BLOCK_BYTES):
        *complete, unfinished = (unfinished + decoder.decode(block)).split("\n")
        yield from complete
    if unfinished:
        yield unfinished


class Screen:
    def __init__(self, output: TextIO, typed: bool) -> None:
        self._output = output
        self._typed = typed
        self._within_line = False

    def prompt(self) -> None:
        """Shows the prompt if a person types; the output of a script has only the agent's messages and notes."""
        if self._typed:
            self._end_line()
            self._write(PROMPT)

    def mark_line_start(self) -> None:
        """Notes that a line was typed, which puts the cursor at the beginning of a line."""
        self._within_line = False

    def stream(self, text: str) -> None:
        if text:
            self._write(text)
            self._within_line = not text.endswith("\n")

    def line(self, text: str) -> None:
        self._end_line()
        self._write(f"{text}\n")

    def note(self, text: str) -> None:
        """Prints a line that is not a message of the agent."""
        self.line(NOTE_PREFIX + text)

    def _end_line(self) -> None:
        if self._within_line:
            self._write("\n")
        self._within_line = False

    def _write(self, text: str) -> None:
        try:
            self._output.write(text)
            self._output.flush()
        except BrokenPipeError:
            os._exit(1)  # the output is no longer read

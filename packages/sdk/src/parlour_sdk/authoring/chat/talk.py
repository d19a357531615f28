"""A conversation with an agent: hears line after line, and lets the agent answer one message at a time."""

import asyncio
import json
import logging
from collections import deque

from parlour_sdk.testing import FakeRun

from .agent import Agent
from .shown import Shown
from .terminal import Queue, Screen

logger = logging.getLogger("parlour.chat")

HELP = """\
/steer TEXT   say something while the agent works
/cancel       stop what it is doing
/new          begin a new conversation
/state        show what it remembers
/quit         leave"""
FOR_THE_RUN = ("/steer", "/cancel")
"""What makes no sense once the run is over."""


class Talk:
    """While the agent works, a line that a person types steers it, if it can be steered; the lines of a script wait."""

    def __init__(self, agent: Agent, screen: Screen, typed: bool) -> None:
        self.heard = 0
        """How many lines have come."""
        self._agent = agent
        self._screen = screen
        self._typed = typed
        self._waiting: deque[str] = deque()
        self._run: FakeRun | None = None
        self._last: FakeRun | None = None
        self._following: asyncio.Task[None] | None = None
        self._leaving = False
        self._over = asyncio.Event()

    async def serve(self, lines: Queue) -> None:
        """Until there are no more lines and all are answered, or somebody leaves."""
        hearing = asyncio.ensure_future(self._hear_all(lines))
        self._go_on()
        await self._over.wait()
        hearing.cancel()

    def interrupt(self) -> None:
        """A first Ctrl-C; a second one is not for us."""
        self._screen.entered()
        if self._run is None:
            self._screen.prompt()
        else:
            self._run.cancel()

    async def _hear_all(self, lines: Queue) -> None:
        while (line := await lines.get()) is not None:
            self.heard += 1
            self._screen.entered()
            self._hear(line.strip())
        self._leaving = True
        self._go_on()

    def _hear(self, line: str) -> None:
        if not self._typed:
            self._waiting.append(line)
            self._go_on()
        elif self._run is None or line.startswith("/"):
            self._do(line)
            self._go_on()
        elif line and self._agent.steers:
            self._steer(line)
        else:
            self._waiting.append(line)

    def _go_on(self) -> None:
        """With what waits; then it is the person's turn."""
        while self._waiting and (self._run is None or _is_for_the_run(self._waiting[0])):
            self._do(self._waiting.popleft())
        if self._run is None:
            self._over.set() if self._leaving else self._screen.prompt()

    def _do(self, line: str) -> None:
        if line.startswith("/"):
            self._command(*line.split(" ", 1))
        elif line:
            self._run = self._last = self._agent.start(line)
            self._following = asyncio.ensure_future(self._follow(self._run))

    async def _follow(self, run: FakeRun) -> None:
        shown = Shown(self._screen)
        try:
            async with run:
                async for result in run:
                    shown.take(result)
            shown.end(run)
            if run.status != "cancelled":  # the Host would start another run with what nobody has pulled
                self._waiting.extend(item.input.text or "" for item in run.unpulled)
        except Exception as error:
            logger.exception("the run broke off")
            self._screen.note(f"it could not be run: {type(error).__name__}: {error}")
        self._run = None
        self._go_on()

    def _command(self, name: str, words: str = "") -> None:
        match name:
            case "/steer":
                self._steer(words.strip())
            case "/cancel":
                self._cancel()
            case "/new":
                self._agent.host.new_conversation()
                self._last = None
                self._screen.note("a new conversation")
            case "/state":
                state = {} if self._last is None else self._last.state
                self._screen.line(json.dumps(state, indent=2, ensure_ascii=False))
            case "/quit":
                self._quit()
            case "/help":
                self._screen.line(HELP)
            case _:
                self._screen.note(f"there is no {name}; /help shows what there is")

    def _steer(self, text: str) -> None:
        if self._run is None:
            self._screen.note("nothing is going on that could be steered")
        elif not text:
            self._screen.note("say what to tell it: /steer TEXT")
        else:
            try:
                self._run.steer(text)
            except ValueError as error:
                self._screen.note(f"not steered: {error}")

    def _cancel(self) -> None:
        if self._run is None:
            self._screen.note("nothing is going on that could be cancelled")
        else:
            self._run.cancel()

    def _quit(self) -> None:
        self._leaving = True
        self._waiting.clear()
        if self._run is not None:
            self._run.cancel()


def _is_for_the_run(line: str) -> bool:
    return line.split(" ")[0] in FOR_THE_RUN

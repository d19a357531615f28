"""Runs a conversation with an agent: reads input lines and lets the agent answer one message at a time."""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Coroutine
from typing import Any

from parlour_sdk.protocol.platform_events import EVENTS, MessageReceived
from parlour_sdk.testing import FakeRun
from parlour_sdk.testing.events import event, message

from .run_printer import RunPrinter
from .session import RunnerChat
from .terminal import LineQueue, Screen

logger = logging.getLogger("parlour.chat")

HELP = """\
/steer TEXT   say something while the agent works
/cancel       stop what it is doing
/new          begin a new conversation
/state        show what it remembers
/event TYPE   let listeners hear an event, such as group.member_joined or message.received TEXT
/NAME WORDS   use a command of the plugin
/quit         leave
A plugin without an agent hears what you say with its listeners."""
RUN_COMMANDS = ("/steer", "/cancel")
"""Commands that apply to the active run and are executed without waiting for its end."""


class TerminalConversation:
    """Steers the active run with typed lines if the runner supports steering; lines of a script wait for its end."""

    def __init__(self, agent: RunnerChat, screen: Screen, typed: bool) -> None:
        self.lines_read = 0
        """Number of input lines read so far."""
        self._agent = agent
        self._screen = screen
        self._typed = typed
        self._pending: deque[str] = deque()
        self._run: FakeRun | None = None
        self._last: FakeRun | None = None
        self._follow_task: asyncio.Task[None] | None = None
        self._leaving = False
        self._answering = False
        self._finished = asyncio.Event()

    async def serve(self, lines: LineQueue) -> None:
        """Serves until the input has ended and every line is answered, or the user quits."""
        hearing = asyncio.ensure_future(self._read_all(lines))
        self._continue()
        await self._finished.wait()
        hearing.cancel()

    def interrupt(self) -> None:
        """Cancels the current work on the first Ctrl-C; the signal handler exits on the second."""
        self._screen.mark_line_start()
        if self._run is not None:
            self._run.cancel()
        elif self._answering and self._follow_task is not None:
            self._follow_task.cancel()
        else:
            self._screen.prompt()

    async def _read_all(self, lines: LineQueue) -> None:
        while (line := await lines.get()) is not None:
            self.lines_read += 1
            self._screen.mark_line_start()
            self._handle_line(line.strip())
        self._leaving = True
        self._continue()

    def _handle_line(self, line: str) -> None:
        if not self._typed:
            self._pending.append(line)
            self._continue()
        elif not self._busy or (line.startswith("/") and not self._answering):
            self._execute(line)
            self._continue()
        elif line and self._agent.supports_steering:
            self._steer(line)
        else:
            self._pending.append(line)

    def _continue(self) -> None:
        """Executes waiting lines as far as possible, then shows the prompt or ends the conversation."""
        while self._pending and (not self._busy or _is_for_the_run(self._pending[0])):
            self._execute(self._pending.popleft())
        if not self._busy:
            self._finished.set() if self._leaving else self._screen.prompt()

    def _execute(self, line: str) -> None:
        if line.startswith("/"):
            self._command(*line.split(" ", 1))
        elif line and not self._agent.runner:
            self._start_answer(self._agent.emit(message(line)))
        elif line:
            self._run = self._last = self._agent.start(line)
            self._follow_task = asyncio.ensure_future(self._follow(self._run))

    def _start_answer(self, work: Coroutine[Any, Any, list[str]]) -> None:
        """Starts printing the answer of a command or of the listeners; lines that are entered during that time wait."""
        self._answering = True
        self._follow_task = asyncio.ensure_future(self._print_answer(work))

    async def _print_answer(self, work: Coroutine[Any, Any, list[str]]) -> None:
        try:
            for text in await work:
                self._screen.line(text)
        except asyncio.CancelledError:
            self._screen.note("cancelled")
        except Exception as error:
            cause = error.__cause__ or error
            logger.exception("the component failed")
            self._screen.note(f"it failed: {type(cause).__name__}: {cause}")
        self._answering = False
        self._continue()

    @property
    def _busy(self) -> bool:
        return self._run is not None or self._answering

    async def _follow(self, run: FakeRun) -> None:
        printer = RunPrinter(self._screen)
        try:
            async with run:
                async for result in run:
                    printer.print_result(result)
            printer.print_end(run)
            if run.status != "cancelled":  # the Host would start another run for messages that were not pulled
                self._pending.extend(item.input.text or "" for item in run.unpulled)
        except Exception as error:
            logger.exception("the run failed unexpectedly")
            self._screen.note(f"it could not be run: {type(error).__name__}: {error}")
        self._run = None
        self._continue()

    def _command(self, name: str, text: str = "") -> None:
        match name:
            case "/steer":
                self._steer(text.strip())
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
            case "/event":
                self._event(*text.strip().split(" ", 1))
            case _:
                self._plugin_command(name, text.strip())

    def _plugin_command(self, name: str, text: str) -> None:
        command = self._agent.find_command(name.removeprefix("/"))
        if command is None:
            self._screen.note(f"there is no {name}; /help shows what there is")
        elif not self._must_wait(name):
            self._start_answer(self._agent.run_command(command, text))

    def _must_wait(self, name: str) -> bool:
        if self._busy:
            self._screen.note(f"{name} has to wait until the agent has answered")
        return self._busy

    def _event(self, event_type: str, text: str = "") -> None:
        kind = EVENTS.get(event_type)
        if kind is None:
            self._screen.note(f"there is no event '{event_type}'; there are {', '.join(EVENTS)}")
            return
        try:
            platform_event = message(text) if kind is MessageReceived else event(kind)
        except (TypeError, ValueError) as error:
            self._screen.note(f"this event can't be made here; write a test with FakeHost.emit ({error})")
            return
        if not self._must_wait("/event"):
            self._start_answer(self._agent.emit(platform_event))

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
        self._pending.clear()
        if self._run is not None:
            self._run.cancel()


def _is_for_the_run(line: str) -> bool:
    return line.split(" ")[0] in RUN_COMMANDS

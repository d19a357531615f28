"""`python -m parlour_sdk.authoring.chat PLUGIN`: loads the plugin into this process and starts a chat.

The chat is with a runner, or with its commands and listeners if it has none.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from parlour_sdk.plugin import LoadedPlugin, PluginInvalid, load, read_plugin

from .conversation import TerminalConversation
from .session import ECHO_MODEL, ChatSetupError, RunnerChat, create_chat
from .terminal import Screen, read_lines

INTERRUPTED = 130
HINT = "\n· Ctrl-C again to leave\n"


def main() -> None:
    arguments = _arguments()
    output = _own_output()
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("parlour.testing").disabled = True  # the screen shows the same information
    try:
        plugin = load(read_plugin(arguments.plugin))
        agent = create_chat(plugin, arguments.runner, arguments.config, arguments.model)
        asyncio.run(_chat(agent, output, typed=os.isatty(0)))
    except (PluginInvalid, ChatSetupError) as error:
        sys.stderr.write(f"parlour: {error}\n")
        sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="parlour plugin chat", description="Talk to a runner on a fake Host.")
    parser.add_argument("plugin", type=Path)
    parser.add_argument("--runner")
    parser.add_argument("--config", action="append", default=[])
    parser.add_argument("--model", default=ECHO_MODEL)
    return parser.parse_args()


def _own_output() -> TextIO:
    """Reserves standard output for the conversation; output of the plugin goes to standard error, like its log."""
    output = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(2, 1)
    return output


async def _chat(agent: RunnerChat, output: TextIO, typed: bool) -> None:
    screen = Screen(output, typed)
    conversation = TerminalConversation(agent, screen, typed)
    if typed:
        screen.note(_greeting(agent.loaded, agent.runner))
    lines = read_lines(0)
    _watch_interrupts(_Interrupts(conversation, asyncio.get_running_loop()))
    await conversation.serve(lines)


def _greeting(plugin: LoadedPlugin, runner: str) -> str:
    receiver = f"runner {runner}" if runner else "its commands and listeners"
    return f"{plugin.identity} {plugin.version}, {receiver}. Say something; /help shows what else you can do."


def _watch_interrupts(interrupt: Callable[[], None]) -> None:
    """Calls the function in a thread of its own for each Ctrl-C.

    The main thread may be blocked, and the kernel may deliver the signal to another thread, which does not wake it.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.set_wakeup_fd(writer)

    def watch() -> None:
        while numbers := os.read(reader, 64):
            for _ in range(numbers.count(signal.SIGINT)):
                interrupt()

    threading.Thread(target=watch, daemon=True).start()


class _Interrupts:
    """Cancels the run on the first Ctrl-C and exits on the second, even if the plugin's code blocks the event loop."""

    def __init__(self, conversation: TerminalConversation, loop: asyncio.AbstractEventLoop) -> None:
        self._chat = conversation
        self._loop = loop
        self._last_signal = -1

    def __call__(self) -> None:
        if self._last_signal == self._chat.lines_read:
            os._exit(INTERRUPTED)
        self._last_signal = self._chat.lines_read
        os.write(2, HINT.encode())  # written directly, because the event loop may be blocked
        self._loop.call_soon_threadsafe(self._chat.interrupt)


if __name__ == "__main__":
    main()

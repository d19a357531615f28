"""Serves one registered connection: reads its lines, keeps it alive, and knows what became of what was sent.

IRC acknowledges nothing. A ping behind each message does: a server handles lines in order, so that refusals, and with
IRCv3 the message itself, arrive before the answer to the ping.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

from parlour.core.platforms.port import PlatformOffline, PlatformRefused, PlatformUncertain
from parlour.platforms._kit.line_connection import LineConnection, NoAnswer
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS
from parlour_sdk.values import dataclass

from .batches import BatchReader
from .line_pacer import LinePacer
from .lines import IrcLine, format_line, line_time, parse_line, read_line
from .server_state import ServerState
from .settings import SERVICE, IrcSettings

IDLE_SECONDS = 60.0
"""Seconds without a line after which the server is pinged; after as many more the connection is given up."""
ANSWER_SECONDS = 15.0
LABEL = "label"
SENTENCES = {
    "401": "there is no user or channel with this name",
    "402": "there is no user or channel with this name",
    "403": "there is no channel with this name",
    "404": "the channel does not let the bot write",
    "405": "the bot is in too many channels",
    "406": "there is no user or channel with this name",
    "412": "there is nothing in this message that IRC could show",
    "441": "the user is not in the channel",
    "442": "the bot is not in the channel; let it join first",
    "443": "the user is in the channel already",
    "471": "the channel is full",
    "473": "the channel can be joined only by invitation; invite the bot",
    "474": "the bot is banned from the channel",
    "475": "the key of the channel is missing or wrong; enter it behind the name",
    "477": "the channel lets in or hears only users with an account; set sasl_account",
    "482": "the bot is no operator of the channel",
    "489": "the channel lets in only users with TLS",
    "716": "the user accepts no private messages",
    "718": "the user accepts no private messages",
}
"""Refusals whose cause an operator can remove or has to know."""
IGNORED_ERRORS = ("422", "433", "432", "437", "438", "447")
"""Answers of 400 and more that concern no request, such as a nick that is still in use."""


@dataclass(slots=True)
class _Request:
    """The lines that were sent last, until the answer to their ping arrives."""

    token: str
    answered: "asyncio.Future[None]"
    replies: list[IrcLine]
    error: IrcLine | None = None


class IrcSession:
    """One registered connection."""

    def __init__(
        self,
        connection: LineConnection,
        settings: IrcSettings,
        state: ServerState,
        pacer: LinePacer,
        on_line: Callable[[IrcLine], Awaitable[None]],
    ) -> None:
        self.state = state
        self._connection = connection
        self._settings = settings
        self._pacer = pacer
        self._on_line = on_line
        """Called for each line before it changes the state."""
        self._turn = asyncio.Lock()
        self._request: _Request | None = None
        self._tokens = itertools.count(1)
        self._is_open = True
        self._batches = BatchReader()
        self.newest_time = 0
        """The latest time in milliseconds that a line of the server has named; 0 before the first one."""
        self.past_id = ""
        """The id of the last message that was said before the connection; empty if the server names none."""

    @property
    def past_lines(self) -> int:
        """Number of lines so far that were said before the connection."""
        return self._batches.past_lines

    @property
    def history_limit(self) -> int:
        """How many lines of the past the server sends at once; 0 if it does not say."""
        limit = self.state.feature("CHATHISTORY")
        return int(limit) if limit.isdecimal() else 0

    @property
    def has_tags(self) -> bool:
        return "message-tags" in self.state.capabilities

    async def serve(self) -> NoReturn:
        """Reads lines until the connection ends. Raises the errors of the platform port."""
        pinged = False
        try:
            while True:
                try:
                    data = await self._connection.read_line(IDLE_SECONDS)
                except NoAnswer:
                    if pinged:
                        raise
                    pinged = True
                    await self.send_now("PING", "idle")
                    await self._regain_nick()
                    continue
                pinged = False
                try:
                    line = parse_line(read_line(data))
                except ValueError:
                    continue  # an empty line, or one without a command
                await self._receive(line)
        finally:
            self._is_open = False
            if self._request is not None and not self._request.answered.done():
                error = PlatformUncertain(f"the connection was cut before {SERVICE} answered a message")
                self._request.answered.set_exception(error)

    async def send_now(self, command: str, *params: str) -> None:
        """Sends a line that the flood limit does not concern, and expects no answer."""
        await self._connection.send(format_line(command, *params))

    async def request(self, lines: Sequence[bytes], is_paced: bool = True) -> list[IrcLine]:
        """Sends lines and returns what the server answered to them. Raises PlatformRefused with its reason."""
        if not self._is_open:
            raise PlatformOffline("the bot is not connected to the IRC server", retry_after=OFFLINE_RETRY_SECONDS)
        count = len(lines) + 1
        self._pacer.reserve(count)
        try:
            async with self._turn:
                return await self._exchange(lines, is_paced)
        finally:
            self._pacer.release(count)

    async def _exchange(self, lines: Sequence[bytes], is_paced: bool) -> list[IrcLine]:
        if not self._is_open:
            raise PlatformOffline("the bot is not connected to the IRC server", retry_after=OFFLINE_RETRY_SECONDS)
        token = f"p{next(self._tokens)}"
        self._request = request = _Request(token, asyncio.get_running_loop().create_future(), [])
        try:
            for line in (*lines, format_line("PING", token)):
                if is_paced:
                    await self._pacer.take()
                await self._connection.send(line)
            async with asyncio.timeout(ANSWER_SECONDS):
                await request.answered
        except TimeoutError:
            raise PlatformUncertain(f"{SERVICE} did not answer a message in time") from None
        finally:
            self._request = None
        if request.error is not None:
            raise PlatformRefused(explain(request.error), permanent=True)
        return request.replies

    async def _receive(self, line: IrcLine) -> None:
        """Handles a line, or the message that it completes."""
        past_lines = self._batches.past_lines
        whole = self._batches.read(line)
        if moment := line_time(line):
            self.newest_time = max(self.newest_time, moment)
        if self._batches.past_lines > past_lines:
            self.past_id = (whole or line).tags.get("msgid", "")
        if whole is not None:
            await self._handle(whole)

    async def _handle(self, line: IrcLine) -> None:
        if line.command == "PING":
            await self.send_now("PONG", line.last)
            return
        if line.command == "ERROR":
            raise PlatformOffline(f"{SERVICE} closed the connection: {line.last[:200]}", OFFLINE_RETRY_SECONDS)
        self._note_answer(line)
        await self._on_line(line)
        wanted = self._settings.nick
        was_taken = line.command in ("QUIT", "NICK") and self.state.fold(line.nick) == self.state.fold(wanted)
        self._apply(line)
        if was_taken:
            await self._regain_nick()

    def _note_answer(self, line: IrcLine) -> None:
        request = self._request
        if request is None:
            return
        if line.command == "PONG" and line.last == request.token:
            if not request.answered.done():
                request.answered.set_result(None)
        elif line.command == "FAIL":
            request.error = request.error or line
        elif line.command.isdecimal():
            if line.command >= "400" and line.command not in IGNORED_ERRORS and not "900" <= line.command <= "908":
                request.error = request.error or line
            else:
                request.replies.append(line)
        elif self.state.is_own(line.nick):
            request.replies.append(line)

    async def _regain_nick(self) -> None:
        if not self.state.is_own(self._settings.nick):
            await self.send_now("NICK", self._settings.nick)

    def _apply(self, line: IrcLine) -> None:
        """Changes the state as a line says."""
        state = self.state
        match line.command:
            case "JOIN":
                state.enter(line.param(0), line.nick)
                user = state.see(line)
                if "extended-join" in state.capabilities and len(line.params) > 1:
                    user.account = "" if line.param(1) == "*" else line.param(1)
                if state.is_own(line.nick):
                    state.own_mask = "@".join(line.mask)
            case "PART":
                state.leave(line.param(0), line.nick)
            case "KICK":
                state.leave(line.param(0), line.param(1))
            case "QUIT":
                state.forget(line.nick)
            case "NICK":
                if state.is_own(line.nick):
                    state.nick = line.param(0)
                state.rename(line.nick, line.param(0))
            case "ACCOUNT":
                state.see(line).account = "" if line.param(0) == "*" else line.param(0)
            case "CHGHOST":
                user = state.see(line)
                user.user, user.host = line.param(0), line.param(1)
                if state.is_own(line.nick):
                    state.own_mask = "@".join(line.params[:2])
            case "MODE" if state.is_channel(line.param(0)):
                state.set_modes(line.param(0), line.params[1:])
            case "TOPIC" | "332" | "331":
                name, topic = (line.param(0), line.last) if line.command == "TOPIC" else (line.param(1), line.last)
                if (channel := state.channel(name)) is not None:
                    channel.topic = "" if line.command == "331" else topic
            case "353":
                state.learn_names(line.param(2), line.last)
            case "366":
                if (channel := state.channel(line.param(1))) is not None:
                    channel.is_complete = True


def explain(line: IrcLine) -> str:
    """Returns the reason of a refusal, in words."""
    return SENTENCES.get(line.command) or f"{SERVICE} refused it: {line.last[:200]} ({line.command})"

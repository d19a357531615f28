"""One connection to the simulated server: its registration and its commands, refused as real servers refuse them."""

import asyncio
import base64
import binascii
import hashlib
import itertools
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .world import (
    IrcRefusal,
    PastIrcMessage,
    SentIrcMessage,
    SimulatedIrcChannel,
    SimulatedIrcUser,
    fold,
    is_channel,
    server_time,
)

if TYPE_CHECKING:
    from .simulator import IrcSimulator

SERVER = "irc.parlour.test"
CAPABILITIES = (
    "sasl=PLAIN", "server-time", "message-tags", "account-tag", "account-notify", "extended-join", "echo-message",
    "labeled-response", "batch", "multi-prefix", "chghost",
)  # fmt: skip
MULTILINE_BYTES, MULTILINE_LINES = 4096, 24
MODERN_CAPABILITIES = (
    f"draft/multiline=max-bytes={MULTILINE_BYTES},max-lines={MULTILINE_LINES}", "draft/chathistory",
)  # fmt: skip
"""What few servers have; tests add it to the capabilities of a server."""
FEATURES = (
    "CASEMAPPING=rfc1459 CHANTYPES=# PREFIX=(qaohv)~&@%+ CHANMODES=beI,k,l,imnpst NICKLEN=20 CHATHISTORY=50 "
    "NETWORK=Simulated"
)
MAX_LINE_BYTES = 512
MAX_TAG_BYTES = 4094
MAX_NICK = 20
NICK = re.compile(r"[A-Za-z\[\]\\`_^{|}][A-Za-z0-9\[\]\\`_^{|}-]*")
PREFIXES = {"q": "~", "a": "&", "o": "@", "h": "%", "v": "+"}
_UNESCAPED = {":": ";", "s": " ", "r": "\r", "n": "\n"}


@dataclass
class SimulatedBatch:
    """A message of several lines that a client is sending."""

    target: str
    tags: dict[str, str]
    lines: list[str] = field(default_factory=list)


class SimulatedIrcClient:
    def __init__(self, server: "IrcSimulator", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._world = server.world
        self._reader = reader
        self.writer = writer
        self.user: SimulatedIrcUser | None = None
        """The user of a registered connection."""
        self.capabilities: set[str] = set()
        self.withholds_pong = False
        self._nick, self._user_name, self._password = "", "", ""
        self._negotiates, self._sasl, self._account = False, "", ""
        self._mechanism = ""
        self._label = ""
        self._line_times: list[float] = []
        self._batches: dict[str, SimulatedBatch] = {}
        self._batch_numbers = itertools.count(1)

    # --- lines

    async def serve(self) -> None:
        while data := await self._reader.readline():
            tags, rest = _split_tags(data.decode("utf-8", "replace").rstrip("\r\n"))
            if not rest:
                continue
            if len(rest.encode()) + 2 > MAX_LINE_BYTES:
                self.answer("417", "Input line was too long")
                continue
            if self._floods():
                self.raw("ERROR :Closing link: (Excess Flood)")
                await self.writer.drain()
                return
            middle, separator, trailing = rest.partition(" :")
            command, *params = middle.split()
            params += [trailing] if separator else []
            self._label = tags.get("label", "")
            try:
                is_done = await self._execute(command.upper(), params, tags)
            except IrcRefusal as refused:
                self.answer(refused.numeric, *refused.params)
                is_done = False
            self._label = ""
            await self.writer.drain()
            await self._server.notify()
            if is_done:
                return

    def raw(self, line: str) -> None:
        self.writer.write(line.encode() + b"\r\n")

    def answer(self, numeric: str, *params: str) -> None:
        *middle, last = params
        label = f"@label={self._label} " if self._label and "labeled-response" in self.capabilities else ""
        nick = self.user.nick if self.user is not None else self._nick or "*"
        self.raw(f"{label}:{SERVER} {' '.join((numeric, nick, *middle))} :{last}")

    def tell(self, source: SimulatedIrcUser, command: str, *params: str, tags: dict[str, str] | None = None) -> None:
        """Sends a line of a user, with the tags that the client wants."""
        given = dict(tags or {})
        if "server-time" in self.capabilities:
            given.setdefault("time", server_time())
        if "account-tag" in self.capabilities and source.account:
            given["account"] = source.account
        if "message-tags" not in self.capabilities:
            given = {name: each for name, each in given.items() if name in ("time", "account", "label")}
        head = f"@{';'.join(f'{name}={_escape(value)}' for name, value in given.items())} " if given else ""
        *middle, last = params
        self.raw(f"{head}:{source.mask} {' '.join((command, *middle))} :{last}")

    def tell_message(
        self, source: SimulatedIrcUser, command: str, target: str, content: str, tags: dict[str, str]
    ) -> None:
        """Sends a message of a user, as a batch if it has several lines and the client knows such messages."""
        lines = content.split("\n")
        if len(lines) == 1:
            self.tell(source, command, target, content, tags=tags)
        elif "draft/multiline" not in self.capabilities:
            for each in lines:
                self.tell(source, command, target, each, tags=tags)
        else:
            name = f"b{next(self._batch_numbers)}"
            self.tell(source, "BATCH", f"+{name}", "draft/multiline", target, tags=tags)
            for each in lines:
                self.tell(source, command, target, each, tags={"batch": name})
            self.raw(f"BATCH -{name}")

    def show_past(self, target: str, messages: list[PastIrcMessage]) -> None:
        """Sends messages of the past as a batch."""
        name = f"b{next(self._batch_numbers)}"
        self.raw(f":{SERVER} BATCH +{name} chathistory {target}")
        for each in messages:
            tags = {**each.message.tags, "msgid": each.message.message_id, "time": each.time, "batch": name}
            self.tell(each.sender, "PRIVMSG", each.message.target, each.message.content, tags=tags)
        self.raw(f":{SERVER} BATCH -{name}")

    def _batch(self, params: list[str], tags: dict[str, str]) -> tuple[str, str, dict[str, str]] | None:
        """Begins a batch, or ends it and returns target, content and tags of its message."""
        name = _param(params, 0, "BATCH")
        if name.startswith("+"):
            if _param(params, 1, "BATCH") != "draft/multiline" or "draft/multiline" not in self.capabilities:
                raise IrcRefusal("421", "BATCH", "Unknown command")
            self._batches[name[1:]] = SimulatedBatch(_param(params, 2, "BATCH"), tags)
            return None
        batch = self._batches.pop(name[1:], None)
        if batch is None or not batch.lines:
            self.raw(f":{SERVER} FAIL BATCH MULTILINE_INVALID :Invalid multiline batch")
            return None
        content = "\n".join(batch.lines)
        for code, size, limit in (("BYTES", len(content.encode()), MULTILINE_BYTES),
                                  ("LINES", len(batch.lines), MULTILINE_LINES)):  # fmt: skip
            if size > limit:
                self.raw(f":{SERVER} FAIL BATCH MULTILINE_MAX_{code} {limit} :Multiline batch is too large")
                return None
        self._label = batch.tags.get("label", "")
        return batch.target, content, batch.tags

    def _floods(self) -> bool:
        """Counts a line against the limit of the server: a number of lines within ten seconds."""
        now = time.monotonic()
        self._line_times = [each for each in self._line_times if each > now - 10] + [now]
        return bool(self._server.max_lines) and len(self._line_times) > self._server.max_lines

    # --- commands

    async def _execute(self, command: str, params: list[str], tags: dict[str, str]) -> bool:
        """Executes a command. Returns true if the connection ends."""
        match command:
            case "CAP":
                self._cap(params)
            case "PASS":
                self._password = params[0] if params else ""
            case "NICK":
                self._change_nick(_param(params, 0, command))
            case "USER":
                self._user_name = _param(params, 3, command) and params[0]
            case "AUTHENTICATE":
                self._authenticate(_param(params, 0, command))
            case "PING":
                if not self.withholds_pong:
                    self.raw(f":{SERVER} PONG {SERVER} :{_param(params, 0, command)}")
                self.withholds_pong = False
            case "PONG":
                pass
            case "QUIT":
                return True
            case _ if self.user is None:
                raise IrcRefusal("451", "You have not registered")
            case "PRIVMSG" if (batch := self._batches.get(tags.get("batch", ""))) is not None:
                batch.lines.append(_param(params, 1, command))
            case "BATCH":
                if (message := self._batch(params, tags)) is not None:
                    target, content, opening = message
                    return await self._server.execute(self, self.user, "PRIVMSG", [target, content], opening)
            case _:
                return await self._server.execute(self, self.user, command, params, tags)
        return self._register()

    def _cap(self, params: list[str]) -> None:
        match _param(params, 0, "CAP").upper():
            case "LS":
                self._negotiates = self.user is None
                self.raw(f":{SERVER} CAP * LS :{' '.join(self._server.capabilities)}")
            case "REQ":
                wanted = set(params[1].split())
                known = {each.partition("=")[0] for each in self._server.capabilities}
                self.capabilities |= wanted if wanted <= known else set()
                self.raw(f":{SERVER} CAP * {'ACK' if wanted <= known else 'NAK'} :{params[1]}")
            case "END":
                self._negotiates = False
            case kind:
                raise IrcRefusal("410", kind, "Invalid CAP command")

    def _authenticate(self, content: str) -> None:
        if "sasl" not in self.capabilities:
            raise IrcRefusal("904", "SASL authentication failed")
        if content in ("PLAIN", "EXTERNAL"):
            self._mechanism = content
            self.raw("AUTHENTICATE +")
            return
        self._sasl += "" if content == "+" else content
        if len(content) == 400:
            return
        if self._mechanism == "EXTERNAL":
            self._log_in_by_certificate()
            return
        try:
            _, account, password = base64.b64decode(self._sasl, validate=True).decode().split("\0")
        except (ValueError, binascii.Error):
            account, password = "", ""
        self._sasl = ""
        if self._server.accounts.get(account) != password:
            raise IrcRefusal("904", "SASL authentication failed")
        self._welcome(account)

    def _log_in_by_certificate(self) -> None:
        tls = self.writer.get_extra_info("ssl_object")
        certificate = tls.getpeercert(binary_form=True) if tls is not None else None
        account = self._server.certificates.get(hashlib.sha256(certificate or b"").hexdigest(), "")
        wanted, self._sasl = base64.b64decode(self._sasl).decode(), ""
        if not account or wanted not in ("", account):
            raise IrcRefusal("904", "SASL authentication failed")
        self._welcome(account)

    def _welcome(self, account: str) -> None:
        self._account = account
        self.answer("900", f"*!*@{SERVER}", account, f"You are now logged in as {account}")
        self.answer("903", "SASL authentication successful")

    def _change_nick(self, nick: str) -> None:
        if not NICK.fullmatch(nick) or len(nick) > MAX_NICK:
            raise IrcRefusal("432", nick, "Erroneous Nickname")
        known = self._world.users.get(fold(nick))
        if known is not None and known is not self.user:
            raise IrcRefusal("433", nick, "Nickname is already in use.")
        if self.user is None:
            self._nick = nick
        else:
            self._server.rename(self.user, nick)

    def _register(self) -> bool:
        """Welcomes the client once all parts are there. Returns true if it is refused."""
        if self.user is not None or self._negotiates or not self._nick or not self._user_name:
            return False
        if self._server.ban_reason:
            self.answer("465", f"You are banned from this server: {self._server.ban_reason}")
            return True
        if self._server.password and self._password != self._server.password:
            self.answer("464", "Password incorrect")
            return True
        self.user = SimulatedIrcUser(self._nick, self._user_name[:10], "bots.example", self._account)
        self._world.users[fold(self._nick)] = self.user
        self.answer("001", f"Welcome to the simulated network {self.user.mask}")
        self.answer("005", *FEATURES.split(), "are supported by this server")
        self.answer("422", "MOTD File is missing")
        return False

    # --- answers about channels

    def show_channel(self, channel: SimulatedIrcChannel) -> None:
        """Sends topic and members, as after joining."""
        if channel.topic:
            self.answer("332", channel.name, channel.topic)
        names = []
        for nick, modes in channel.members.items():
            signs = [PREFIXES[each] for each in PREFIXES if each in modes]
            shown = signs if "multi-prefix" in self.capabilities else signs[:1]
            names.append(f"{''.join(shown)}{self._world.users[nick].nick}")
        self.answer("353", "=", channel.name, " ".join(names))
        self.answer("366", channel.name, "End of /NAMES list.")

    def show_user(self, user: SimulatedIrcUser) -> None:
        self.answer("311", user.nick, user.user, user.host, "*", user.nick)
        if user.account:
            self.answer("330", user.nick, user.account, "is logged in as")
        self.answer("318", user.nick, "End of /WHOIS list.")

    def echo(self, message: SentIrcMessage, command: str) -> None:
        """Returns a message to its sender, if the client wants that."""
        assert self.user is not None
        if "echo-message" in self.capabilities:
            label = {"label": self._label} if self._label else {}
            tags = {**message.tags, "msgid": message.message_id, **label}
            if command == "TAGMSG":
                self.tell(self.user, command, message.target, tags=tags)
            else:
                self.tell_message(self.user, command, message.target, message.content, tags)
        elif self._label:
            self.raw(f"@label={self._label} :{SERVER} ACK")


def check_target(name: str) -> None:
    if not name or (not is_channel(name) and not NICK.fullmatch(name)):
        raise IrcRefusal("401", name or "*", "No such nick/channel")


def _param(params: list[str], place: int, command: str) -> str:
    if len(params) <= place:
        raise IrcRefusal("461", command, "Not enough parameters")
    return params[place]


def _split_tags(text: str) -> tuple[dict[str, str], str]:
    if not text.startswith("@"):
        return {}, text
    encoded, _, rest = text[1:].partition(" ")
    if len(encoded) > MAX_TAG_BYTES:
        return {}, ""
    pairs = (each.partition("=") for each in encoded.split(";") if each)
    return {name: re.sub(r"\\(.)", lambda m: _UNESCAPED.get(m[1], m[1]), value) for name, _, value in pairs}, rest


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace(";", "\\:").replace(" ", "\\s").replace("\r", "\\r").replace("\n", "\\n")

"""Opens a connection to an IRC server: capabilities, SASL, nick, and what the server says about itself."""

import base64

from parlour.core.platforms.port import AdapterStopped, PlatformOffline, PlatformUncertain
from parlour.platforms._kit.line_connection import LineConnection
from parlour.platforms._kit.unreachable import OFFLINE_RETRY_SECONDS

from .batches import MULTILINE
from .lines import IrcLine, format_line, parse_line, read_line
from .server_state import ServerState, read_multiline
from .settings import SERVICE, IrcSettings

WANTED = (
    "sasl", "server-time", "message-tags", "account-tag", "account-notify", "extended-join", "echo-message",
    "labeled-response", "batch", "multi-prefix", "chghost", "userhost-in-names", "draft/multiline",
    "draft/chathistory",
)  # fmt: skip
SASL_CHUNK = 400
PLAIN, EXTERNAL = "PLAIN", "EXTERNAL"
MAX_NICKS = 12
"""Number of nicks that are tried: the wanted one, and others made from it."""
NICK_TAKEN = ("433", "436", "437")
SASL_FAILED = ("902", "904", "905", "906", "908")
END_OF_MOTD = ("376", "422")
WRONG_ACCOUNT = "sasl_password: the IRC server does not accept the account and its password"
WRONG_CERTIFICATE = (
    "certificate: the IRC server knows no account with it; register its fingerprint with the services of the network"
)
NO_EXTERNAL = "certificate: the IRC server offers no log-in by certificate (SASL EXTERNAL); leave the certificate empty"
NO_SASL = "sasl_account: the IRC server offers no log-in by SASL PLAIN; leave the account empty or use another server"
WRONG_PASSWORD = "server_password: the IRC server does not accept it, or requires one"
WRONG_NICK = "nick: the IRC server does not accept it; choose another, of letters and digits, and perhaps shorter"


class Registration:
    """The handshake of one connection."""

    def __init__(self, connection: LineConnection, settings: IrcSettings, state: ServerState) -> None:
        self._connection = connection
        self._settings = settings
        self._state = state
        self._offered: dict[str, str] = {}
        self._tried = 0
        self._is_welcome = False

    async def run(self) -> None:
        """Registers the bot. Raises AdapterStopped if only the operator can help, or PlatformUncertain."""
        settings = self._settings
        if settings.server_password:
            await self._send("PASS", settings.server_password)
        await self._send("CAP", "LS", "302")
        await self._send("NICK", settings.nick)
        await self._send("USER", _user_name(settings.nick), "0", "*", settings.real_name)
        while True:
            text = read_line(await self._connection.read_line())
            if text.strip() and await self._handle(parse_line(text)):
                return

    async def _handle(self, line: IrcLine) -> bool:
        """Handles a line of the handshake. Returns true at its end."""
        match line.command:
            case "PING":
                await self._send("PONG", line.last)
            case "CAP":
                await self._capabilities(line)
            case "AUTHENTICATE":
                await self._authenticate()
            case "903":
                await self._send("CAP", "END")
            case "001":
                self._is_welcome = True
                self._state.nick = line.param(0) or self._state.nick
            case "005":
                self._state.learn_features(line.params[1:-1])
            case "396":
                user = self._state.own_mask.partition("@")[0]
                self._state.own_mask = f"{user or _user_name(self._state.nick)}@{line.param(1)}"
            case "ERROR":
                raise PlatformOffline(f"{SERVICE} refused the connection: {line.last[:200]}", OFFLINE_RETRY_SECONDS)
            case command if command in NICK_TAKEN and not self._is_welcome:
                await self._try_next_nick()
            case command if command in SASL_FAILED:
                raise AdapterStopped(WRONG_CERTIFICATE if self._mechanism == EXTERNAL else WRONG_ACCOUNT)
            case "431" | "432":
                raise AdapterStopped(WRONG_NICK)
            case "464":
                raise AdapterStopped(WRONG_PASSWORD)
            case "465":
                raise AdapterStopped(f"the IRC server has banned this bot or this address: {line.last[:200]}")
        return self._is_welcome and line.command in END_OF_MOTD

    async def _capabilities(self, line: IrcLine) -> None:
        match line.param(1).upper():
            case "LS":
                for each in line.last.split():
                    name, _, value = each.partition("=")
                    self._offered[name] = value
                if line.param(2) != "*":  # otherwise more lines follow
                    await self._request_capabilities()
            case "ACK":
                self._state.capabilities |= set(line.last.split())
                self._state.multiline = read_multiline(self._offered.get(MULTILINE, ""))
                await self._log_in()
            case "NAK":
                await self._log_in()

    @property
    def _mechanism(self) -> str:
        """The way in which the bot logs in; empty if it does not."""
        if self._settings.server.certificate:
            return EXTERNAL
        return PLAIN if self._settings.account else ""

    async def _request_capabilities(self) -> None:
        mechanisms = self._offered.get("sasl", "").upper().split(",")
        can_log_in = "sasl" in self._offered and (mechanisms == [""] or self._mechanism in mechanisms)
        if self._mechanism and not can_log_in:
            raise self._refused_login()
        wanted = [name for name in WANTED if name in self._offered and (name != "sasl" or self._mechanism)]
        await (self._send("CAP", "REQ", " ".join(wanted)) if wanted else self._send("CAP", "END"))

    async def _log_in(self) -> None:
        if not self._mechanism:
            await self._send("CAP", "END")
        elif "sasl" in self._state.capabilities:
            await self._send("AUTHENTICATE", self._mechanism)
        else:
            raise self._refused_login()

    def _refused_login(self) -> AdapterStopped:
        return AdapterStopped(NO_EXTERNAL if self._mechanism == EXTERNAL else NO_SASL)

    async def _authenticate(self) -> None:
        """Sends the account, with its password if there is no certificate, in parts of 400 characters; an empty part
        ends those that fill the last one.
        """
        settings = self._settings
        secret = f"{settings.account}\0{settings.account}\0{settings.password}"
        if self._mechanism == EXTERNAL:
            secret = settings.account
        encoded = base64.b64encode(secret.encode()).decode()
        for first in range(0, len(encoded) + 1, SASL_CHUNK):
            await self._send("AUTHENTICATE", encoded[first : first + SASL_CHUNK] or "+")

    async def _try_next_nick(self) -> None:
        self._tried += 1
        if self._tried >= MAX_NICKS:
            raise PlatformUncertain("the nick of the bot and others made from it are in use")
        nick = self._settings.nick
        other = f"{nick}{'_' * self._tried}" if self._tried <= 3 else f"{nick[:6]}{self._tried}"
        self._state.nick = other
        await self._send("NICK", other)

    async def _send(self, command: str, *params: str) -> None:
        await self._connection.send(format_line(command, *params))


def _user_name(nick: str) -> str:
    return "".join(each for each in nick.lower() if each.isascii() and each.isalnum())[:9] or "parlour"

"""Reads the configuration of a mailbox as values, and checks what its form can't. Servers are never contacted."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms._kit.line_connection import Security, ServerAddress
from parlour_sdk.values import dataclass

SENDERS = (
    "must name who may write to the bot: addresses such as ann@example.com, domains such as @example.com, or * for all"
)
ADDRESS = "must be one mail address, such as bot@example.com"
PLAIN = "must be tls or starttls; without protection only a server of this machine can be used, such as 127.0.0.1"
TAG = "takes no brackets; the subject then contains it in brackets"
BLANK = "must be a name or address of a server without blanks or slashes"
NAME = "email"
MAX_HOURLY_LIMIT = 1000
_SECURITIES: dict[str, Security] = {"tls": "tls", "starttls": "starttls", "none": "none"}
_PORTS = {"imap": {"tls": 993, "starttls": 143, "none": 143}, "smtp": {"tls": 465, "starttls": 587, "none": 25}}


@dataclass(frozen=True, slots=True)
class EmailSettings:
    """The validated configuration of one mailbox."""

    imap: ServerAddress
    smtp: ServerAddress
    address: str
    """The bot's own address, in lower case."""
    name: str
    username: str
    password: str
    folder: str
    sent_folder: str
    saves_sent: bool
    marks_seen: bool
    own_addresses: frozenset[str]
    allowed_senders: tuple[str, ...]
    subject_tag: str
    authserv_id: str
    reply_all: bool
    hourly_limit: int

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]

    def allows(self, address: str) -> bool:
        """Returns whether mails from this address are accepted: the address, its domain as `@domain`, or `*`."""
        return any(
            each == "*" or each == address or (each.startswith("@") and address.endswith(each))
            for each in self.allowed_senders
        )


def read_settings(config: Mapping[str, Any]) -> EmailSettings:
    """Reads a configuration. Raises AdapterStopped if something is missing."""
    address = _text(config, "address").lower()
    for name in ("address", "imap_host", "smtp_host", "password"):
        if not _text(config, name):
            raise AdapterStopped(f"{name}: this field is needed")
    own = {address, *_texts(config, "aliases")}
    return EmailSettings(
        imap=_server(config, "imap"),
        smtp=_server(config, "smtp"),
        address=address,
        name=_text(config, "display_name"),
        username=_text(config, "username") or address,
        password=str(config.get("password") or ""),
        folder=_text(config, "folder") or "INBOX",
        sent_folder=_text(config, "sent_folder"),
        saves_sent=config.get("save_sent") is not False,
        marks_seen=config.get("mark_seen") is not False,
        own_addresses=frozenset(own),
        allowed_senders=tuple(_texts(config, "allowed_senders")),
        subject_tag=_text(config, "subject_tag").lower(),
        authserv_id=_text(config, "authserv_id").lower(),
        reply_all=config.get("reply_all") is True,
        hourly_limit=int(config.get("hourly_limit") or 6),
    )


def _server(config: Mapping[str, Any], protocol: str) -> ServerAddress:
    security = _SECURITIES.get(_text(config, f"{protocol}_security"), "tls")
    port = config.get(f"{protocol}_port")
    number = port if isinstance(port, int) and port else _PORTS[protocol][security]
    return ServerAddress(_text(config, f"{protocol}_host"), number, security)


def _text(config: Mapping[str, Any], name: str) -> str:
    return str(config.get(name) or "").strip()


def _texts(config: Mapping[str, Any], name: str) -> list[str]:
    values = config.get(name)
    return [str(each).strip().lower() for each in values if str(each).strip()] if isinstance(values, list) else []


def problems(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Returns pairs of field and problem."""
    senders = config.get("allowed_senders")
    names = senders if isinstance(senders, list) else []
    by_field = {
        "address": "" if is_address(str(config.get("address") or "")) else ADDRESS,
        "allowed_senders": "" if names and all(map(_is_sender, names)) else SENDERS,
        "subject_tag": TAG if set("[]") & set(str(config.get("subject_tag") or "")) else "",
    }
    for protocol in ("imap", "smtp"):
        host = str(config.get(f"{protocol}_host") or "")
        by_field[f"{protocol}_host"] = BLANK if not host or set(" /\\\t") & set(host) else ""
        is_plain = config.get(f"{protocol}_security") == "none"
        by_field[f"{protocol}_security"] = PLAIN if is_plain and not _is_loopback(host) else ""
    return [(name, problem) for name, problem in by_field.items() if problem]


def is_address(text: str) -> bool:
    local, at, domain = text.strip().rpartition("@")
    return bool(local and at and domain) and not set(' \t\r\n<>,;"@') & set(local + domain)


def _is_sender(entry: Any) -> bool:
    text = str(entry).strip()
    return text == "*" or is_address(text) or (text.startswith("@") and is_address(f"any{text}"))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

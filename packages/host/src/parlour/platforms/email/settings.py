"""The configuration of a mailbox as values: servers, account, folders and rules."""

from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms._kit.line_connection import Security, ServerAddress
from parlour_sdk.values import dataclass

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

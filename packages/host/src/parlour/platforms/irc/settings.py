"""The configuration of an IRC bot as values: server, account, nick, channels and flood limits."""

from collections.abc import Mapping
from typing import Any

from parlour.core.platforms.port import AdapterStopped
from parlour.platforms._kit.line_connection import Security, ServerAddress
from parlour_sdk.values import dataclass

NAME = "irc"
SERVICE = "the IRC server"
_PORTS = {"tls": 6697, "none": 6667}


@dataclass(frozen=True, slots=True)
class IrcChannelSetting:
    name: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class IrcSettings:
    """The validated configuration of one bot."""

    server: ServerAddress
    server_password: str
    nick: str
    real_name: str
    account: str
    password: str
    channels: tuple[IrcChannelSetting, ...]
    join_on_invite: bool
    line_interval: float
    """Seconds between lines, after a burst."""


def read_settings(config: Mapping[str, Any]) -> IrcSettings:
    """Reads a configuration. Raises AdapterStopped if something is missing."""
    for name in ("host", "nick"):
        if not _text(config, name):
            raise AdapterStopped(f"{name}: this field is needed")
    account, password = _text(config, "sasl_account"), str(config.get("sasl_password") or "")
    certificate = str(config.get("certificate") or "").strip()
    if bool(account) != bool(password) and not certificate:
        raise AdapterStopped("sasl_password: an account needs its password, and a password its account")
    security: Security = "none" if _text(config, "security") == "none" else "tls"
    if certificate and security == "none":
        raise AdapterStopped("certificate: it is used only with TLS; set the protection to TLS")
    port = config.get("port")
    interval = config.get("line_interval")
    return IrcSettings(
        server=ServerAddress(
            _text(config, "host"), port if isinstance(port, int) and port else _PORTS[security], security, certificate
        ),
        server_password=str(config.get("server_password") or ""),
        nick=_text(config, "nick"),
        real_name=_text(config, "real_name") or _text(config, "nick"),
        account=account,
        password=password,
        channels=tuple(_channels(config)),
        join_on_invite=config.get("join_on_invite") is True,
        line_interval=float(interval) if isinstance(interval, int | float) and interval >= 0 else 2.0,
    )


def _channels(config: Mapping[str, Any]) -> list[IrcChannelSetting]:
    given = config.get("channels")
    found = []
    for each in given if isinstance(given, list) else ():
        name, _, key = str(each).strip().partition(" ")
        if name:
            found.append(IrcChannelSetting(name, key.strip()))
    return found


def _text(config: Mapping[str, Any], name: str) -> str:
    return str(config.get(name) or "").strip()

"""Decides through which proxy an address is reached: the one set for a bot, or those of the environment.

No message contains a proxy's password. A proxy of the environment is never used for this machine's own addresses; one
that the operator set for a bot is used for everything that the bot connects to.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import SplitResult, quote, unquote, urlsplit

from parlour_sdk.values import dataclass

DEFAULT_PORTS = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
"""The kinds of proxies, each with the port that is used if its address has none."""
DIRECT = "direct"
"""The address that switches proxies off for a bot."""
ADDRESS = "must be a proxy such as http://host:8080 or socks5://host:1080 (http, https, socks5, socks5h), or direct"
PASSWORD_IN_ADDRESS = "takes no password, for it is shown in the clear; enter it in the field for the proxy's password"
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
"""The variables of the environment, which are read in lower case first and then in upper case."""
_VARIABLES_OF_SCHEME = {"http": "http_proxy", "ws": "http_proxy", "https": "https_proxy", "wss": "https_proxy"}
_PORTS_OF_SCHEME = {"http": 80, "ws": 80, "https": 443, "wss": 443}


class InvalidProxy(ValueError):
    """Raised for a proxy address that can't be used. Its text names the setting and never the address."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy with its credentials. `name` is the form for messages and logs."""

    url: str = field(repr=False)
    name: str

    @property
    def is_socks(self) -> bool:
        return self.url.startswith("socks")


@dataclass(frozen=True, slots=True)
class ProxyBypass:
    """An entry of NO_PROXY: a name with its subdomains, a network, or `*`; optionally for one port."""

    name: str = ""
    network: IPv4Network | IPv6Network | None = None
    port: int | None = None

    def matches(self, host: str, port: int | None) -> bool:
        if self.port is not None and self.port != port:
            return False
        if self.network is not None:
            address = _address(host)
            return address is not None and address in self.network
        return self.name == "*" or host == self.name or host.endswith(f".{self.name}")


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """The proxies by scheme and the addresses that are reached without one."""

    by_scheme: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Addresses by the name of the variable that they come from."""
    bypasses: tuple[ProxyBypass, ...] = ()
    fixed: Proxy | None = None
    """The proxy for every address; the two other fields are empty then."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "ProxySettings":
        """Reads the variables of the environment. They are parsed when an address needs one of them."""
        variables = os.environ if environment is None else environment
        values = {name: variables.get(name) or variables.get(name.upper()) or "" for name in PROXY_VARIABLES}
        bypasses = _bypasses(values.pop("no_proxy").replace(",", " ").split())
        return cls({name: value.strip() for name, value in values.items() if value.strip()}, tuple(bypasses))

    @classmethod
    def from_fields(cls, address: str, password: str = "") -> "ProxySettings":
        """Reads the proxy of a bot: an address, `direct`, or nothing for the environment. Raises InvalidProxy."""
        address = address.strip()
        if not address:
            return cls.from_environment()
        return cls() if address.lower() == DIRECT else cls(fixed=parse_proxy(address, "proxy", password))

    def for_url(self, url: str) -> Proxy | None:
        """Returns the proxy of an address, or None if it is reached directly. Raises InvalidProxy."""
        if self.fixed is not None or not self.by_scheme:
            return self.fixed
        parts = _split(url)
        if parts is None or not parts.hostname:
            return None
        host = parts.hostname.rstrip(".").lower()
        port = parts.port or _PORTS_OF_SCHEME.get(parts.scheme)
        if _is_loopback(host) or any(bypass.matches(host, port) for bypass in self.bypasses):
            return None
        for variable in (_VARIABLES_OF_SCHEME.get(parts.scheme, ""), "all_proxy"):
            if address := self.by_scheme.get(variable):
                return parse_proxy(address if "://" in address else f"http://{address}", variable.upper())
        return None


def parse_proxy(address: str, setting: str, password: str = "") -> Proxy:
    """Parses an address. Raises InvalidProxy, which names the setting that the address comes from."""
    parts = _split(address)
    if parts is None or parts.scheme not in DEFAULT_PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise InvalidProxy(f"{setting}: {ADDRESS}")
    if parts.query or parts.fragment or any(character.isspace() for character in address):
        raise InvalidProxy(f"{setting}: {ADDRESS}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    place = f"{host}:{parts.port or DEFAULT_PORTS[parts.scheme]}"
    user, secret = unquote(parts.username or ""), password or unquote(parts.password or "")
    credentials = f"{quote(user, safe='')}:{quote(secret, safe='')}@" if user or secret else ""
    return Proxy(f"{parts.scheme}://{credentials}{place}", f"{parts.scheme}://{place}")


def address_problem(address: str) -> str:
    """Returns why an address can't be entered as a bot's proxy; empty if it can."""
    if not address or address.lower() == DIRECT:
        return ""
    try:
        parse_proxy(address, "proxy")
    except InvalidProxy:
        return ADDRESS
    return PASSWORD_IN_ADDRESS if urlsplit(address).password else ""


def proxy_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the proxy variables of the environment in both spellings, for a process that may use the network."""
    variables = os.environ if environment is None else environment
    values = {name: variables.get(name) or variables.get(name.upper()) for name in PROXY_VARIABLES}
    return {spelling: value for name, value in values.items() if value for spelling in (name, name.upper())}


def _bypasses(entries: Iterable[str]) -> Iterable[ProxyBypass]:
    for entry in entries:
        text = entry.lower()
        try:
            yield ProxyBypass(network=ip_network(text.strip("[]"), strict=False))
            continue
        except ValueError:
            pass
        parts = _split(f"//{text}")
        host, port = (parts.hostname or "", parts.port) if parts is not None else ("", None)
        address = _address(host)
        if address is not None:
            yield ProxyBypass(network=ip_network(address), port=port)
        elif host:
            yield ProxyBypass("*" if host == "*" else host.removeprefix("*").strip("."), port=port)


def _is_loopback(host: str) -> bool:
    address = _address(host)
    return address.is_loopback if address is not None else host == "localhost" or host.endswith(".localhost")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else None  # reading an invalid port raises ValueError
    except ValueError:
        return None

"""Checks whether the settings for a reverse proxy are consistent, and whether the public address leads to the Host."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from ipaddress import ip_network

from parlour.app.data_directory import DataDirectory
from parlour.app.http_address import host_name
from parlour.app.settings import HostSettings, HttpSettings
from parlour.http.client_address import is_loopback_address

from .finding import Finding, ok, warning

RESPONSE_TIMEOUT_SECONDS = 5.0
"""Seconds to wait for an answer of the public address."""
ANSWER_BYTES = 4096
"""Bytes of the answer that are read."""
AREA = "proxy"
"""Area of the findings."""


async def check(settings: HostSettings) -> AsyncIterator[Finding]:
    http = settings.http
    for finding in _settings(http):
        yield finding
    if http.public_url and DataDirectory(settings.data).serving_pid() is not None:
        yield await asyncio.to_thread(_check_public_address, http.public_address)


def _settings(http: HttpSettings) -> list[Finding]:
    findings = []
    proxied = _is_public(http) or http.prefix or http.trusted_proxies
    if proxied and not http.trusted_proxies:
        remedy = "set http.trusted_proxies to the proxy's address, such as 127.0.0.1"
        message = "no proxy is trusted: all users count as one address, and session cookies are not marked Secure"
        findings.append(warning(AREA, message, remedy))
    if any(ip_network(each, strict=False).prefixlen == 0 for each in http.trusted_proxies):
        message = "http.trusted_proxies trusts every address: anybody can pretend to be any client"
        findings.append(warning(AREA, message, "name only the proxy's own address or network"))
    if http.trusted_proxies and not http.public_url:
        message = "http.public_url is not set: links, webhooks and browsers under the proxy's name may not work"
        findings.append(warning(AREA, message, "set http.public_url to the address that people use"))
    if proxied and not findings:
        findings.append(ok(AREA, f"{', '.join(http.trusted_proxies)} may forward, for {http.public_address}"))
    return findings


def _is_public(http: HttpSettings) -> bool:
    name = host_name(http.public_url)
    return bool(name) and name != "localhost" and not is_loopback_address(name)


def _check_public_address(public_url: str) -> Finding:
    """Requests the Host's health from the public address, without authentication."""
    url = f"{public_url}/healthz"
    remedy = "check the proxy, and that http.public_url has its name, port and path"
    try:
        with urllib.request.urlopen(url, timeout=RESPONSE_TIMEOUT_SECONDS) as answer:
            healthy = json.loads(answer.read(ANSWER_BYTES)) == {"status": "ok"}
    except urllib.error.HTTPError as error:
        return warning(AREA, f"{url} answers with status {error.code}", remedy)
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return warning(AREA, f"{url} can't be reached from here: {reason}", remedy)
    if not healthy:
        return warning(AREA, f"{url} is answered by something else than a Host", remedy)
    return ok(AREA, f"{public_url} leads to a Host")

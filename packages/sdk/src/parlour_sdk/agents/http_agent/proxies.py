"""Finds the proxy of a request: the configured one, or that of the environment."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SCHEMES = ("http", "https", "socks5", "socks5h")
DIRECT = "direct"
"""The configured value that switches off the proxy of the environment."""


def check_proxy(proxy: str) -> str:
    """Returns the proxy's address. Raises ValueError if it is none."""
    parts = urlsplit(proxy)
    if proxy != DIRECT and (parts.scheme not in SCHEMES or not parts.hostname):
        raise ValueError(f"enter {DIRECT}, or an address that starts with one of {', '.join(SCHEMES)}")
    return proxy


def find_proxy(url: str, configured: str | None) -> str | None:
    """Returns the proxy for a URL, or None.

    Without a configured one, `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` decide, in either case.
    """
    if configured:
        return None if configured == DIRECT else configured
    parts, environment = urlsplit(url), getproxies()
    proxy = environment.get(parts.scheme) or environment.get("all")
    if not proxy or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return check_proxy(proxy if "://" in proxy else f"http://{proxy}")


def is_socks(proxy: str | None) -> bool:
    return bool(proxy) and str(proxy).startswith("socks5")

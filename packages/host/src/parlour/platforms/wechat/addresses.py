"""Checks the addresses that the gateway names: tokens and files go only to WeChat and to the configured servers."""

from urllib.parse import urlsplit

WECHAT_DOMAIN = ".qq.com"


def is_trusted(address: str, configured: str) -> bool:
    """Returns whether an address is one of WeChat's over TLS, or on the same machine as the configured server."""
    try:
        parts, own = urlsplit(address), urlsplit(configured)
    except ValueError:
        return False
    host = parts.hostname or ""
    if host and host == own.hostname:
        return parts.scheme == own.scheme
    return parts.scheme == "https" and host.endswith(WECHAT_DOMAIN)


def redirected(host: str, configured: str) -> str:
    """Returns the address of another host of the login; empty if it is not one of WeChat's."""
    address = f"{urlsplit(configured).scheme}://{host}"
    return address if is_trusted(address, configured) else ""

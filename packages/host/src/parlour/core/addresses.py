"""Formats network addresses for people."""


def authority(host: str, port: int | None) -> str:
    """Returns `host:port`, with the brackets that an IPv6 address needs in a URL."""
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"

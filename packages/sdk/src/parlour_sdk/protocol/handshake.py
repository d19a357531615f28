"""The first call on a connection, and its answer."""

from .base import Tolerant


class Hello(Tolerant):
    """A plugin says who it is. Until this is answered nothing else is served."""

    protocol: int
    """The version of the protocol: 1."""
    sdk: str
    """The version of the SDK."""
    plugin: str
    """`author/name`, which must be what the Host knows of this connection."""
    token: str | None = None
    """Of a process that the Host did not start itself."""


class Welcome(Tolerant):
    """The Host says who it is."""

    protocol: int
    host: str
    host_version: str

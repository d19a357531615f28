"""The first call on a connection, and its answer."""

from .base import Tolerant


class Hello(Tolerant):
    protocol: int
    sdk: str
    plugin: str
    token: str | None = None


class Welcome(Tolerant):
    protocol: int
    host: str
    host_version: str

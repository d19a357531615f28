"""Facts about the Host itself."""

from .base import Tolerant
from .calls import Call


class HostVersionGet(Call):
    """Asks which Host this is."""


class HostVersion(Tolerant):
    """Which Host this is."""

    version: str
    protocol: int

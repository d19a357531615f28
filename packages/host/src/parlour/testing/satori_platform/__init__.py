"""A small chat platform behind satori-python's server, which is a third-party server of the protocol."""

from .platform import SatoriPlatform
from .world import SatoriWorld, SentSatoriMessage

__all__ = ["SatoriPlatform", "SatoriWorld", "SentSatoriMessage"]

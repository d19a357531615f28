"""A chat platform in memory that supports everything and can fail in every way, for tests of the parts before it.

`FakePlatform` is the platform and its users; `FakeCatalogue` offers it to a Host under the name `fake`.
"""

from .adapter import FakeCatalogue
from .manifest import manifest
from .world import FakePlatform, ShownMessage, ShownStream

__all__ = ["FakeCatalogue", "FakePlatform", "ShownMessage", "ShownStream", "manifest"]

"""A chat platform in memory that can do everything, and fail in every way: for tests of what stands before it.

`FakePlatform` is the platform and its people; `FakeCatalogue` offers it to a Host under the name `fake`.
"""

from .adapter import FakeCatalogue
from .manifest import manifest
from .world import FakePlatform, Shown, StreamShown

__all__ = ["FakeCatalogue", "FakePlatform", "Shown", "StreamShown", "manifest"]

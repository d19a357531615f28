"""Doors: the interfaces of common standards through which clients reach published agents."""

from typing import Literal, get_args

Door = Literal["openai", "mcp", "a2a", "agui"]
"""A door is also the source and the surface of the events that come through it."""
DOORS: tuple[Door, ...] = get_args(Door)
LIVE_SURFACES = frozenset(("webui", *DOORS))
"""Surfaces of the Host itself whose clients follow a run while it works."""

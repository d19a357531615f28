"""The form in which a long reply is sent: a file, pictures, or a merged forward."""

from collections.abc import Sequence
from typing import Literal, Protocol

from parlour_sdk.values import dataclass


class TextPictures(Protocol):
    """Draws texts as pictures."""

    async def draw(self, text: str) -> Sequence[bytes]:
        """Returns the pages of a Markdown text as PNG pictures; none if it can't be drawn, or not in time."""
        ...


class NoTextPictures:
    """Draws nothing."""

    async def draw(self, text: str) -> Sequence[bytes]:
        return ()


@dataclass(frozen=True, slots=True)
class LongTextForm:
    """The form of a reply with more characters than `over`, on a platform that can show it."""

    over: int
    shape: Literal["file", "image", "forward"]
    pictures: TextPictures

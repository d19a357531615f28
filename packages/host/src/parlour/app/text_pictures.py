"""Loads what draws texts when the first text is drawn, since few Hosts need it."""

from collections.abc import Sequence


class LazyTextPictures:
    """Implements the port `TextPictures`."""

    async def draw(self, text: str) -> Sequence[bytes]:
        from parlour.providers.text_pictures import DrawnTexts

        return await DrawnTexts().draw(text)

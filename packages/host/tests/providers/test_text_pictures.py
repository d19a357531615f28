"""Tests the pictures of long texts: their size and number, and which texts are not drawn."""

import io
import time
from pathlib import Path

import pytest
from PIL import Image

from parlour.providers import text_pictures
from parlour.providers.text_pictures import DrawnTexts

TEXT = (
    "# Report\n\nSome **bold** words and a list:\n\n- one\n- two\n\n```python\nprint('hello')\n```\n" + "words " * 400
)


def no_font(kind: str) -> str:
    """Stands for a system without fonts; Pillow brings one for Latin letters."""
    return ""


async def test_text_is_one_picture_of_the_usual_width() -> None:
    [picture] = await DrawnTexts(no_font).draw(TEXT)
    with Image.open(io.BytesIO(picture)) as image:
        assert (image.format, image.width) == ("PNG", text_pictures.WIDTH)
        assert image.height < text_pictures.MAX_HEIGHT
        assert len(image.getcolors() or ()) > 2
    assert len(picture) < 150_000


async def test_text_that_is_higher_than_a_picture_becomes_several_and_then_a_file() -> None:
    drawn = DrawnTexts(no_font, seconds=60)
    pictures = await drawn.draw("line\n\n" * 200)
    assert len(pictures) == 2
    assert await drawn.draw("line\n\n" * 2000) == ()
    assert await drawn.draw("x" * 50_000) == ()


@pytest.mark.parametrize("text", ["你好，世界", "سلام", "नमस्ते", "a\u0301b", "ΨЖ ⴀ"])
async def test_text_is_not_drawn_if_it_would_not_be_readable(text: str) -> None:
    assert await DrawnTexts(no_font).draw(text) == ()


async def test_missing_or_broken_font_and_slow_drawing_draw_nothing(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_text("no font")
    assert await DrawnTexts(lambda kind: str(broken)).draw("hello") == ()

    def slow(kind: str) -> str:
        time.sleep(0.2)
        return ""

    assert await DrawnTexts(slow, seconds=0.01).draw("hello") == ()


def test_long_words_and_east_asian_text_are_broken_within_the_width() -> None:
    from PIL import ImageFont

    font = ImageFont.load_default(24)
    text = "a" * 200 + " " + "word " * 50 + "漢" * 100
    lines = list(text_pictures._wrap(text, font, 400))
    assert max(font.getlength(line) for line in lines) <= 400
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")

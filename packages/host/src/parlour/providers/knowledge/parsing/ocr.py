"""Recognizes the text of images and scanned pages, if the extra `ocr` is installed; its models are in the wheel."""

import importlib.util
import io
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from parlour.core.knowledge.chunking import Block

from .errors import Unreadable

MODULE = "rapidocr_onnxruntime"
MIN_MEMORY_MB = 2048
"""Memory that a reader gets at least when it may have to recognize text."""
MAX_PIXELS = 50_000_000
"""Pixels of one image; a page scanned at 600 dpi has 35 million."""
MIN_CONFIDENCE = 0.5
LINE_TOLERANCE = 0.6
"""Part of a line's height by which words of the same line may differ in their position."""


def is_installed() -> bool:
    return importlib.util.find_spec(MODULE) is not None


def read_image(path: Path) -> Iterator[Block | int]:
    """Yields one page with the text of an image."""
    yield 1
    text = recognize(path.read_bytes())
    if text:
        yield Block(text, (), 1)


def recognize(content: bytes) -> str:
    """Returns the text of an image, line by line. Raises Unreadable."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Unreadable("file.too_large", f"an image has more than {MAX_PIXELS // 1_000_000} million pixels")
            import numpy as np

            pixels = np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise Unreadable("parse.failed", f"the image is damaged: {error}") from error
    found, _ = _engine()(pixels)
    return "\n".join(_lines([(box, text) for box, text, score in found or [] if float(score) >= MIN_CONFIDENCE]))


def _lines(found: list[tuple[Any, str]]) -> Iterator[str]:
    """Joins words that stand beside each other into lines, from the top to the bottom."""
    line: list[tuple[float, str]] = []
    top = height = 0.0
    for box, text in sorted(found, key=lambda each: each[0][0][1]):
        left, upper, lower = box[0][0], box[0][1], box[3][1]
        if line and upper - top > height * LINE_TOLERANCE:
            yield " ".join(word for _, word in sorted(line))
            line = []
        if not line:
            top, height = upper, lower - upper
        line.append((left, text))
    if line:
        yield " ".join(word for _, word in sorted(line))


@cache
def _engine() -> Any:
    from rapidocr_onnxruntime import RapidOCR  # type: ignore[import-not-found]

    return RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)

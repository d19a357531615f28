"""Tests the recognition of text in images and scanned pages, by the reader's own process and the real models."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from parlour.providers.knowledge.parsing import ocr
from parlour.providers.knowledge.parsing.file_types import detect_type
from parlour.providers.knowledge.parsing.process import WORKER, _variables

ROOT = Path(__file__).parents[5]
PYTHON = ROOT / ".tools/peers/ocr/bin/python"
DRAW = """
import sys
from PIL import Image, ImageDraw, ImageFont
image = Image.new("RGB", (900, 260), "white")
font = ImageFont.load_default(40)
for row, text in enumerate(("Invoice 4711", "total 380.50 EUR")):
    ImageDraw.Draw(image).text((40, 40 + 90 * row), text, fill="black", font=font)
image.save(sys.argv[1])
"""
PNG_HEAD = b"\x89PNG\r\n\x1a\n" + bytes(60)


def test_images_are_taken_only_if_their_text_can_be_recognized() -> None:
    assert detect_type(PNG_HEAD, "scan.png", "") is None
    assert detect_type(PNG_HEAD, "scan.png", "", takes_images=True) == "image/png"


def test_words_beside_each_other_are_one_line() -> None:
    def box(left: float, top: float) -> list[list[float]]:
        return [[left, top], [left + 90, top], [left + 90, top + 30], [left, top + 30]]

    found = [(box(200, 12), "380.50"), (box(10, 60), "Thank you"), (box(10, 10), "Total")]
    assert list(ocr._lines(found)) == ["Total 380.50", "Thank you"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["invoice.png", "invoice.jpg", "invoice.pdf"])
def test_an_invoice_is_read_from_a_picture_and_a_scan(tmp_path: Path, name: str) -> None:
    subprocess.run([PYTHON, "-c", DRAW, tmp_path / name], check=True)
    mime_type = detect_type((tmp_path / name).read_bytes()[:4096], name, "", takes_images=True)
    bounds = [str(ocr.MIN_MEMORY_MB), "300"]
    [libraries] = (ROOT / ".tools/peers/ocr").glob("lib/python*/site-packages")
    variables = _variables()
    variables["PYTHONPATH"] += f":{libraries}"
    command = [
        sys.executable,
        "-P",
        "-m",
        WORKER,
        str(tmp_path / name),
        name,
        str(mime_type),
        "general",
        "400",
        "60",
        *bounds,
    ]
    finished = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=300, check=True)
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    assert lines[-1] == {"end": True}, finished.stdout
    text = " ".join(passage["text"] for line in lines[:-1] for passage in line["passages"])
    assert "4711" in text
    assert "380.50" in text
    assert lines[0]["pages"] == 1

"""The media type of a file follows its content, not its declaration."""

import zlib

import pytest

from parlour.core.store.media_types import BINARY, HEAD_BYTES, detect_media_type, is_safe_inline

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
ZIP = b"PK\x03\x04\x14\x00\x00\x00"
DOCUMENT = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

BY_CONTENT = {
    PNG: "image/png",
    b"\xff\xd8\xff\xe0\x00\x10JFIF": "image/jpeg",
    b"GIF89a\x01\x00": "image/gif",
    b"RIFF\x24\x00\x00\x00WEBPVP8 ": "image/webp",
    b"RIFF\x24\x00\x00\x00WAVEfmt ": "audio/wav",
    b"%PDF-1.7\n%\xe2\xe3": "application/pdf",
    ZIP: "application/zip",
    b"\x1f\x8b\x08" + zlib.compress(b"x"): "application/gzip",
    b"ID3\x04\x00\x00": "audio/mpeg",
    b"\xff\xfb\x90\x44\x00": "audio/mpeg",
    b"OggS\x00\x02": "audio/ogg",
    b"\x00\x00\x00\x20ftypisom": "video/mp4",
    b"\x00\x00\x00\x20ftypM4A ": "audio/mp4",
    b"\x1a\x45\xdf\xa3\x9f": "video/webm",
    b"hello": "text/plain",
    "你好".encode(): "text/plain",
    b"": "text/plain",
    b"<!DOCTYPE html><p>": "text/html",
    b"\xef\xbb\xbf \n <HTML>": "text/html",
    b"<script>alert(1)</script>": "text/html",
    SVG: "image/svg+xml",
    b'<?xml version="1.0"?>\n<!-- by hand -->\n' + SVG: "image/svg+xml",
    b'<?xml version="1.0"?><a/>': "application/xml",
    b"\x00\x01\x02\x03": BINARY,
    b"\x7fELF\x02\x01\x01\x00": BINARY,
}


@pytest.mark.parametrize(("content", "mime_type"), BY_CONTENT.items(), ids=lambda value: repr(value)[:30])
def test_media_type_is_detected_from_content(content: bytes, mime_type: str) -> None:
    assert detect_media_type(content) == mime_type


@pytest.mark.parametrize(
    ("content", "declared", "mime_type"),
    [
        (SVG, "image/png", "image/svg+xml"),
        (b"<html>", "image/png", "text/html"),
        (b"<html>", "text/plain", "text/html"),
        (b"hello", "image/png", "text/plain"),
        (PNG, "text/html", "image/png"),
        (PNG, "", "image/png"),
        (b"\x00\x01\x02", "image/png", BINARY),
        (b"\x00\x01\x02", "text/html", BINARY),
        (b"\x00\x01\x02", "not a type", BINARY),
        (b"\x00\x01\x02", "x/y\r\nSet-Cookie: a=b", BINARY),
    ],
)
def test_wrong_declaration_is_corrected(content: bytes, declared: str, mime_type: str) -> None:
    assert detect_media_type(content, declared) == mime_type


@pytest.mark.parametrize(
    ("content", "declared", "mime_type"),
    [
        (ZIP, DOCUMENT, DOCUMENT),
        (b"OggS\x00\x02", "audio/opus", "audio/opus"),
        (b"{}", "application/json", "application/json"),
        (b"a,b", "Text/CSV; charset=utf-8", "text/csv"),
        (b"# title", "text/markdown", "text/markdown"),
        (b"\x00\x01\x02", "application/x-sqlite3", "application/x-sqlite3"),
    ],
)
def test_declaration_is_kept_if_content_is_ambiguous(content: bytes, declared: str, mime_type: str) -> None:
    assert detect_media_type(content, declared) == mime_type


def test_cut_character_at_the_end_of_the_sample_is_text() -> None:
    content = ("x" * (HEAD_BYTES - 1) + "é").encode()
    assert detect_media_type(content[:HEAD_BYTES]) == "text/plain"
    assert detect_media_type(b"\xc3" + b"x" * (HEAD_BYTES - 1)) == BINARY


@pytest.mark.parametrize("mime_type", ["text/html", "image/svg+xml", "application/xml", "text/javascript", BINARY])
def test_types_that_may_hold_scripts_are_not_inline(mime_type: str) -> None:
    assert not is_safe_inline(mime_type)


@pytest.mark.parametrize("mime_type", ["image/png", "text/plain", "audio/ogg", "video/mp4"])
def test_images_audio_video_and_plain_text_are_inline(mime_type: str) -> None:
    assert is_safe_inline(mime_type)

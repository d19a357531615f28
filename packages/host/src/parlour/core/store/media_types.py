"""Detects the media type of a file from its content. The declared type counts only if the content is ambiguous."""

import re
from typing import Final

HEAD_BYTES = 2048
"""Bytes at the beginning of a file that are examined."""
BINARY = "application/octet-stream"
TEXT = "text/plain"

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"#!AMR", "audio/amr"),
    (b"OggS", "audio/ogg"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}
_BRANDS: Final = {b"M4A ": "audio/mp4", b"M4B ": "audio/mp4", b"avif": "image/avif", b"heic": "image/heic"}
_EQUIVALENT_TYPES: Final = {
    "audio/ogg": {"video/ogg", "application/ogg", "audio/opus"},
    "video/webm": {"audio/webm", "video/x-matroska"},
    "video/mp4": {"audio/mp4", "video/quicktime", "audio/x-m4a"},
    "audio/mpeg": {"audio/mp3"},
    "audio/wav": {"audio/x-wav", "audio/wave", "audio/vnd.wave"},
    "image/jpeg": {"image/jpg"},
    "application/gzip": {"application/x-gzip", "application/x-tar"},
}
"""Declared types that are accepted for a detected container, since its first bytes don't distinguish them."""
_ZIPPED: Final = ("application/vnd.", "application/epub+zip", "application/java-archive", "application/x-zip")
_KNOWN: Final = frozenset({mime for _, mime in _SIGNATURES} | {*_RIFF.values(), *_BRANDS.values(), "video/mp4"}).union(
    *_EQUIVALENT_TYPES.values()
)
_TEXTUAL: Final = re.compile(
    r"text/.+|application/([\w.-]+\+)?(json|xml|yaml|toml)|application/(javascript|x-\w+-?script)"
)
_MARKUP: Final = (
    (
        re.compile(rb"<!doctype html|<html|<head|<body|<script|<iframe|<style|<title|<a\s|<img\s|<div|<table", re.I),
        "text/html",
    ),
    (re.compile(rb"(<\?xml[^>]*>\s*)?(<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg", re.I | re.S), "image/svg+xml"),
    (re.compile(rb"<\?xml", re.I), "application/xml"),
)
_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_INLINE_TYPES: Final = frozenset(
    ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "text/plain", "application/json")
)


def detect_media_type(head: bytes, declared: str = "") -> str:
    """Returns the media type of content that starts with `head`."""
    declared = _normalize(declared)
    detected = _signature(head)
    if detected is not None:
        fits = declared in _EQUIVALENT_TYPES.get(detected, ()) or (
            detected == "application/zip" and declared.startswith(_ZIPPED)
        )
        return declared if fits else detected
    if _is_text(head):
        markup = next(
            (mime for pattern, mime in _MARKUP if pattern.match(head.removeprefix(b"\xef\xbb\xbf").lstrip())), None
        )
        if markup is not None and not (markup == "application/xml" and "xml" in declared):
            return markup
        return declared if _TEXTUAL.fullmatch(declared) else TEXT
    return BINARY if declared in _KNOWN or _TEXTUAL.fullmatch(declared) else declared or BINARY


def is_safe_inline(mime_type: str) -> bool:
    """Returns whether a browser may show the file inline. Others are downloaded, since they may contain scripts."""
    return mime_type in _INLINE_TYPES or mime_type.startswith(("audio/", "video/"))


def _normalize(declared: str) -> str:
    plain = declared.partition(";")[0].strip().lower()
    return plain if re.fullmatch(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+_-]*", plain) and len(plain) <= 100 else ""


def _signature(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] in _RIFF:
        return _RIFF[head[8:12]]
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12], "video/mp4")
    if head[:1] == b"\xff" and head[1:2] in (b"\xfb", b"\xf3", b"\xf2"):
        return "audio/mpeg"
    return next((mime for signature, mime in _SIGNATURES if head.startswith(signature)), None)


def _is_text(head: bytes) -> bool:
    if _CONTROLS.search(head):
        return False
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # the head may end in the middle of a character
        return len(head) == HEAD_BYTES and error.start >= HEAD_BYTES - 3
    return True

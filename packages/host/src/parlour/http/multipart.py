"""Parses `multipart/form-data` as a stream: texts are kept in memory, a file is written to disk in blocks, never held
in memory as a whole."""

import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import field
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path

from parlour_sdk.values import dataclass

from .errors import Problem, upload_not_stored

MAX_HEADER_BYTES = 8 * 1024
MAX_TEXT_BYTES = 64 * 1024
MAX_PARTS = 20
MAX_NAME_LENGTH = 200


@dataclass(slots=True)
class MultipartForm:
    texts: dict[str, str] = field(default_factory=dict)
    file_name: str | None = None
    """Name that the client gives its file; None if there was no file."""


def upload_directory(uploads: Path) -> "tempfile.TemporaryDirectory[str]":
    """Creates a temporary directory for an upload; it is deleted when the block ends."""
    try:
        return tempfile.TemporaryDirectory(dir=uploads)
    except OSError as error:
        raise upload_not_stored(error) from error


async def read_form(chunks: AsyncIterator[bytes], content_type: str, file_field: str, target: Path) -> MultipartForm:
    """Reads the form and writes the one file, which must be in the field `file_field`, to `target`."""
    reader = _Reader(chunks)
    mark = b"\r\n--" + _boundary(content_type)
    form = MultipartForm()
    await reader.until(mark, _discard)
    for _ in range(MAX_PARTS):
        if await reader.exactly(2) == b"--":
            return form
        name, file_name = await _head(reader)
        if file_name is None:
            text = _Text(name)
            await reader.until(mark, text.write)
            form.texts[name] = text.value()
        elif name != file_field or form.file_name is not None:
            raise _malformed(f"the file belongs into one field named '{file_field}'")
        else:
            form.file_name = file_name
            with target.open("wb") as file:
                await reader.until(mark, file.write)
    raise _malformed(f"a form may have at most {MAX_PARTS} fields")


class _Reader:
    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks
        self._held = b"\r\n"  # so that the first boundary looks like the others

    async def until(self, mark: bytes, write: Callable[[bytes], object]) -> None:
        """Passes everything before the mark to `write`, and skips the mark."""
        while (found := self._held.find(mark)) < 0:
            sure = max(0, len(self._held) - len(mark) + 1)
            write(self._held[:sure])
            self._held = self._held[sure:] + await self._next()
        write(self._held[:found])
        self._held = self._held[found + len(mark) :]

    async def exactly(self, count: int) -> bytes:
        while len(self._held) < count:
            self._held += await self._next()
        taken, self._held = self._held[:count], self._held[count:]
        return taken

    async def _next(self) -> bytes:
        async for chunk in self._chunks:
            if chunk:
                return chunk
        raise _malformed("it ends before its last boundary")


class _Text:
    def __init__(self, name: str, limit: int = MAX_TEXT_BYTES) -> None:
        self._name = name
        self._limit = limit
        self._content = bytearray()

    def write(self, block: bytes) -> None:
        self._content += block
        if len(self._content) > self._limit:
            raise _malformed(f"'{self._name}' is longer than {self._limit} bytes")

    def value(self) -> str:
        try:
            return self._content.decode()
        except UnicodeDecodeError:
            raise _malformed(f"'{self._name}' is not text in UTF-8") from None


async def _head(reader: _Reader) -> tuple[str, str | None]:
    """Reads a part's headers: its name, and the file name if it is a file."""
    headers = _Text("a part's headers", MAX_HEADER_BYTES)
    await reader.until(b"\r\n\r\n", headers.write)
    message = HeaderParser().parsestr(headers.value())
    name = message.get_param("name", header="content-disposition")
    if not isinstance(name, str):
        raise _malformed("a part has no name")
    file_name = message.get_filename()
    return name, None if file_name is None else _clean_file_name(file_name)


def _clean_file_name(file_name: str) -> str:
    plain = "".join(each for each in file_name.replace("\\", "/").rpartition("/")[2] if each.isprintable())
    return plain[:MAX_NAME_LENGTH] or "file"


def _boundary(content_type: str) -> bytes:
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_boundary()
    if not boundary or len(boundary) > MAX_NAME_LENGTH or not boundary.isascii():
        raise _malformed("its content type names no boundary")
    return boundary.encode()


def _discard(block: bytes) -> None: ...


def _malformed(reason: str) -> Problem:
    return Problem(422, "invalid_argument", f"the body is not a form that can be read: {reason}")

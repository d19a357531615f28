"""Reads `multipart/form-data` as a stream: texts are kept in memory, a file is written to disk in blocks, never held
in memory as a whole. The syntax is parsed by python-multipart."""

import logging
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import field
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import IO

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser

from parlour_sdk.values import dataclass

from .errors import Problem, upload_not_stored

MAX_HEADER_BYTES = 8 * 1024
MAX_TEXT_BYTES = 64 * 1024
MAX_PARTS = 20
MAX_NAME_LENGTH = 200
logging.getLogger("python_multipart").setLevel(logging.ERROR)  # its warnings repeat what the client gets as an answer


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
    boundary = _boundary(content_type)
    with ExitStack() as open_files:
        reader = _FormReader(file_field, target, open_files)
        parser = MultipartParser(boundary, reader.callbacks(), max_header_size=MAX_HEADER_BYTES)  # type: ignore[arg-type]
        async for chunk in chunks:
            try:
                parser.write(chunk)
            except FormParserError as error:
                raise reader.fault(error) from None
            if reader.ended:
                return reader.form
    raise _malformed("it ends before its last boundary")


class _FormReader:
    """Collects the parts of a form as the parser finds them."""

    def __init__(self, file_field: str, target: Path, open_files: ExitStack) -> None:
        self.form = MultipartForm()
        self.ended = False
        self._file_field = file_field
        self._target = target
        self._open_files = open_files
        self._parts = 0
        self._name = ""
        self._head = _Text("a part's headers", MAX_HEADER_BYTES)
        self._colon = b""
        """The colon of the current header, if it is not written yet."""
        self._text = _Text("")
        self._file: IO[bytes] | None = None

    def callbacks(self) -> dict[str, object]:
        return {
            "on_part_begin": self._begin_part,
            "on_header_begin": self._begin_header,
            "on_header_field": lambda data, start, end: self._head.write(data[start:end]),
            "on_header_value": lambda data, start, end: self._write_value(data[start:end]),
            "on_header_end": lambda: self._write_value(b"\r\n"),
            "on_headers_finished": self._end_head,
            "on_part_data": lambda data, start, end: (self._file or self._text).write(data[start:end]),
            "on_part_end": self._end_part,
            "on_end": self._end,
        }

    def fault(self, error: FormParserError) -> Problem:
        """Returns the problem of a body whose syntax is wrong, which is found in its headers or before its first
        part."""
        if not self._parts:
            return _malformed("it ends before its last boundary")
        if "header size" in str(error):
            return self._head.too_long()
        return _malformed("a part has no name")

    def _begin_part(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise _malformed(f"a form may have at most {MAX_PARTS} fields")
        self._head = _Text("a part's headers", MAX_HEADER_BYTES)

    def _begin_header(self) -> None:
        self._colon = b": "

    def _write_value(self, data: bytes) -> None:
        self._head.write(self._colon + data)
        self._colon = b""

    def _end_head(self) -> None:
        self._name, file_name = _parse_head(self._head.value())
        if file_name is None:
            self._text = _Text(self._name)
        elif self._name != self._file_field or self.form.file_name is not None:
            raise _malformed(f"the file belongs into one field named '{self._file_field}'")
        else:
            self.form.file_name = file_name
            self._file = self._open_files.enter_context(self._target.open("wb"))

    def _end_part(self) -> None:
        if self._file is None:
            self.form.texts[self._name] = self._text.value()
        else:
            self._open_files.close()
            self._file = None

    def _end(self) -> None:
        self.ended = True


class _Text:
    """Text of limited size, collected in blocks."""

    def __init__(self, name: str, limit: int = MAX_TEXT_BYTES) -> None:
        self._name = name
        self._limit = limit
        self._content = bytearray()

    def write(self, block: bytes) -> None:
        self._content += block
        if len(self._content) > self._limit:
            raise self.too_long()

    def too_long(self) -> Problem:
        return _malformed(f"'{self._name}' is longer than {self._limit} bytes")

    def value(self) -> str:
        try:
            return self._content.decode()
        except UnicodeDecodeError:
            raise _malformed(f"'{self._name}' is not text in UTF-8") from None


def _parse_head(headers: str) -> tuple[str, str | None]:
    """Returns a part's name, and the file name if it is a file."""
    message = HeaderParser().parsestr(headers)
    name = message.get_param("name", header="content-disposition")
    if not isinstance(name, str):
        raise _malformed("a part has no name")
    file_name = message.get_filename()
    return name, None if file_name is None else _clean_file_name(file_name)


def _clean_file_name(file_name: str) -> str:
    cleaned = "".join(each for each in file_name.replace("\\", "/").rpartition("/")[2] if each.isprintable())
    return cleaned[:MAX_NAME_LENGTH] or "file"


def _boundary(content_type: str) -> bytes:
    message = Message()
    message["content-type"] = content_type
    boundary = message.get_boundary()
    if not boundary or len(boundary) > MAX_NAME_LENGTH or not boundary.isascii():
        raise _malformed("its content type names no boundary")
    return boundary.encode()


def _malformed(reason: str) -> Problem:
    return Problem(422, "invalid_argument", f"the body is not a form that can be read: {reason}")

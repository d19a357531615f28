"""The process that reads one file: it writes one JSON line per batch of passages, then one with the end or the error.

python -m parlour.providers.knowledge.parsing.worker FILE NAME TYPE CHUNKER TOKENS OVERLAP MEMORY_MB SECONDS
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from parlour.core.knowledge.chunking import Block, cut
from parlour.core.model.knowledge import ChunkSettings, Passage

from . import file_types
from .errors import Unreadable

BATCH_PASSAGES = 16
MEBIBYTE = 1024 * 1024
Reader = Callable[[Path], Iterator[Block | int]]


def main(arguments: list[str]) -> int:
    path, _, mime_type, chunker, tokens, overlap, memory_mb, seconds = arguments
    limit = int(memory_mb) * MEBIBYTE
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    settings = ChunkSettings(chunker, int(tokens), int(overlap))  # type: ignore[arg-type]
    try:
        _read(Path(path), mime_type, settings)
    except Unreadable as error:
        _write({"error": {"code": error.code, "message": error.message}})
    except (MemoryError, RecursionError):
        message = f"reading the file needs more than {memory_mb} MiB of memory, or it is nested too deeply"
        _write({"error": {"code": "parse.memory", "message": message}})
    except Exception as error:  # noqa: BLE001  # the libraries raise whatever a damaged file makes them raise
        reason = f"{type(error).__name__}: {error}"[:300]
        _write({"error": {"code": "parse.failed", "message": f"the file can't be read ({reason})"}})
    return 0


def _read(path: Path, mime_type: str, settings: ChunkSettings) -> None:
    if mime_type in file_types.ZIPPED:
        from .archives import check_archive

        mime_type = check_archive(path)
    progress = _Progress()
    batch: list[dict[str, Any]] = []
    started, writing = time.perf_counter(), 0.0
    for passage in cut(progress.watch(_reader(mime_type)(path)), settings):
        batch.append(_line(passage))
        if len(batch) == BATCH_PASSAGES:
            written = time.perf_counter()
            _write({"passages": batch, "percent": progress.percent, "pages": progress.pages})
            writing += time.perf_counter() - written
            batch = []
    cutting = max(0.0, time.perf_counter() - started - writing - progress.read_seconds)
    _write({"passages": batch, "percent": 100, "pages": progress.pages, "type": mime_type, "chunk_seconds": cutting})
    _write({"end": True})


def _reader(mime_type: str) -> Reader:
    """Returns the reader of a type. Libraries are imported here, so that a process loads one of them."""
    match mime_type:
        case file_types.PDF:
            from .documents import read_pdf

            return read_pdf
        case file_types.EPUB:
            from .documents import read_epub

            return read_epub
        case file_types.DOCX | file_types.PPTX | file_types.XLSX:
            from . import office

            readers: dict[str, Reader] = {
                file_types.DOCX: office.read_docx,
                file_types.PPTX: office.read_pptx,
                file_types.XLSX: office.read_xlsx,
            }
            return readers[mime_type]
        case image if image in file_types.IMAGES:
            from .ocr import read_image

            return read_image
        case file_types.HTML:
            from .html import read_html

            return read_html
        case file_types.CSV | file_types.TSV:
            from .text import read_table

            return read_table
        case file_types.MARKDOWN:
            from .text import read_markdown

            return read_markdown
        case _:
            from .text import read_plain

            return read_plain


class _Progress:
    """Knows how many pages are read, and how long that took."""

    def __init__(self) -> None:
        self.pages = 0
        self.read_seconds = 0.0
        self._page = 0

    @property
    def percent(self) -> int:
        return 100 * max(0, self._page - 1) // self.pages if self.pages else 0

    def watch(self, blocks: Iterator[Block | int]) -> Iterator[Block]:
        started = time.perf_counter()
        for block in blocks:
            self.read_seconds += time.perf_counter() - started
            if isinstance(block, int):
                self.pages = block
            else:
                self._page = block.page
                self.pages = max(self.pages, block.page)
                yield block
            started = time.perf_counter()
        self.read_seconds += time.perf_counter() - started


def _line(passage: Passage) -> dict[str, Any]:
    return {name: value for name, value in asdict(passage).items() if value}


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(line, ensure_ascii=True) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measures the directory of a zip without reading it into memory: it may have millions of entries."""

import struct
from pathlib import Path
from typing import BinaryIO

END = struct.Struct("<4s4H2LH")
END_MARK = b"PK\x05\x06"
LONG_END = struct.Struct("<4sQ2H2L4Q")
LONG_END_MARK = b"PK\x06\x06"
LOCATOR = struct.Struct("<4sLQL")
LOCATOR_MARK = b"PK\x06\x07"
ENTRY = struct.Struct("<4s6H3L5H2L")
ENTRY_MARK = b"PK\x01\x02"
COMMENT_BYTES = 1 << 16


def measure(archive: Path, max_entries: int) -> tuple[int, int]:
    """Returns the number of its entries, counted up to one above `max_entries`, and its size in bytes.

    Both are 0 for a file that is no zip; opening it reports what is wrong. The directory is located as the standard
    library does it. Its entries are counted, since the number that a zip states is not what is read later.
    """
    with archive.open("rb") as file:
        start, size = _directory(file)
        count, end = 0, start + size
        while start < end and count <= max_entries:
            file.seek(start)
            head = file.read(ENTRY.size)
            if len(head) < ENTRY.size or not head.startswith(ENTRY_MARK):
                break
            fields = ENTRY.unpack(head)
            start += ENTRY.size + sum(fields[10:13])  # its name, extra field and comment
            count += 1
        return count, size


def _directory(file: BinaryIO) -> tuple[int, int]:
    """Returns where the directory begins, and its size. It ends where the end record begins."""
    length = file.seek(0, 2)
    tail_start = max(0, length - COMMENT_BYTES - END.size)
    file.seek(tail_start)
    tail = file.read()
    default_offset = len(tail) - END.size
    offset = (
        default_offset
        if default_offset >= 0 and tail[default_offset:].startswith(END_MARK) and tail.endswith(b"\0\0")
        else tail.rfind(END_MARK)
    )
    if offset < 0 or len(tail) - offset < END.size:
        return 0, 0
    end = tail_start + offset
    size = int(END.unpack_from(tail, offset)[5])
    long = end - LOCATOR.size - LONG_END.size
    if long < 0:
        return max(0, end - size), size
    file.seek(long)
    record = file.read(LONG_END.size + LOCATOR.size)
    if record.startswith(LONG_END_MARK) and record[LONG_END.size :].startswith(LOCATOR_MARK):
        end, size = long, int(LONG_END.unpack_from(record)[8])
    return max(0, end - size), size

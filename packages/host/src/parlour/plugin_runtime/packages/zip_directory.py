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


def measure(archive: Path, most: int) -> tuple[int, int]:
    """Returns the number of its entries, counted up to one above `most`, and its size in bytes.

    Both are 0 for a file that is no zip; opening it reports what is wrong. The directory is located as the standard
    library does it. Its entries are counted, since the number that a zip states is not what is read later.
    """
    with archive.open("rb") as file:
        place, size = _directory(file)
        counted, end = 0, place + size
        while place < end and counted <= most:
            file.seek(place)
            head = file.read(ENTRY.size)
            if len(head) < ENTRY.size or not head.startswith(ENTRY_MARK):
                break
            fields = ENTRY.unpack(head)
            place += ENTRY.size + sum(fields[10:13])  # its name, extra field and comment
            counted += 1
        return counted, size


def _directory(file: BinaryIO) -> tuple[int, int]:
    """Returns where the directory begins, and its size. It ends where the end record begins."""
    length = file.seek(0, 2)
    from_here = max(0, length - COMMENT_BYTES - END.size)
    file.seek(from_here)
    tail = file.read()
    plain = len(tail) - END.size
    at = plain if plain >= 0 and tail[plain:].startswith(END_MARK) and tail.endswith(b"\0\0") else tail.rfind(END_MARK)
    if at < 0 or len(tail) - at < END.size:
        return 0, 0
    end = from_here + at
    size = int(END.unpack_from(tail, at)[5])
    long = end - LOCATOR.size - LONG_END.size
    if long < 0:
        return max(0, end - size), size
    file.seek(long)
    before = file.read(LONG_END.size + LOCATOR.size)
    if before.startswith(LONG_END_MARK) and before[LONG_END.size :].startswith(LOCATOR_MARK):
        end, size = long, int(LONG_END.unpack_from(before)[8])
    return max(0, end - size), size

"""Encodes a text as a QR code (ISO/IEC 18004): bytes, error correction level M, versions 1 to 20.

A picture of it is drawn by the page or the terminal.
"""

from collections.abc import Iterator
from itertools import pairwise, product

MAX_VERSION = 20
CORRECTION_PER_BLOCK = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26)
"""Correction codewords of each block, by version."""
BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16)
LEVEL_M = 0
FORMAT_MASK, FORMAT_POLYNOMIAL, VERSION_POLYNOMIAL, FIELD_POLYNOMIAL = 0x5412, 0x537, 0x1F25, 0x11D
PADDING = (0xEC, 0x11)
MASKS = 8
FINDER_LIKE = ((1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0), (0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1))
Grid = list[list[int]]


def qr_rows(text: str) -> list[str]:
    """Returns the modules of the QR code, row by row: `1` is dark. Raises ValueError if the text is too long."""
    content = text.encode()
    version = next((each for each in range(1, MAX_VERSION + 1) if _bits(each, content) <= _capacity(each) * 8), 0)
    if not version:
        raise ValueError(f"a text of {len(content)} bytes does not fit into a QR code of version {MAX_VERSION}")
    symbol = _Symbol(version)
    symbol.place(_codewords(version, content))
    best = min((symbol.masked(mask) for mask in range(MASKS)), key=_penalty)
    return ["".join(map(str, row)) for row in best]


def _bits(version: int, content: bytes) -> int:
    return 4 + (8 if version < 10 else 16) + 8 * len(content)


def _raw_codewords(version: int) -> int:
    """Returns the number of codewords that fit beside the patterns of a symbol."""
    modules = (16 * version + 128) * version + 64
    if version >= 2:
        positions = version // 7 + 2
        modules -= (25 * positions - 10) * positions - 55
    return (modules - (36 if version >= 7 else 0)) // 8


def _capacity(version: int) -> int:
    return _raw_codewords(version) - CORRECTION_PER_BLOCK[version - 1] * BLOCKS[version - 1]


def _codewords(version: int, content: bytes) -> bytes:
    """Returns data and correction of all blocks, interleaved."""
    capacity, length_bits = _capacity(version), 8 if version < 10 else 16
    value = (0b0100 << length_bits | len(content)) << 8 * len(content) | int.from_bytes(content, "big")
    bits = _bits(version, content)
    terminator = min(4, capacity * 8 - bits)
    bits += terminator + (-(bits + terminator)) % 8
    data = (value << bits - _bits(version, content)).to_bytes(bits // 8, "big")
    data += bytes(PADDING[place % 2] for place in range(capacity - len(data)))
    number, correction = BLOCKS[version - 1], CORRECTION_PER_BLOCK[version - 1]
    short, longer = divmod(capacity, number)
    blocks, start = list[bytes](), 0
    for place in range(number):
        size = short + (place >= number - longer)
        blocks.append(data[start : start + size])
        start += size
    corrections = [_correction(block, correction) for block in blocks]
    return bytes([*_interleaved(blocks), *_interleaved(corrections)])


def _interleaved(blocks: list[bytes]) -> Iterator[int]:
    for place in range(max(map(len, blocks))):
        yield from (block[place] for block in blocks if place < len(block))


def _multiply(first: int, second: int) -> int:
    """Multiplies in the field of 256 elements."""
    product_ = 0
    for shift in range(7, -1, -1):
        product_ = product_ << 1 ^ (product_ >> 7) * FIELD_POLYNOMIAL
        product_ ^= (second >> shift & 1) * first
    return product_


def _correction(data: bytes, number: int) -> bytes:
    """Returns the Reed-Solomon codewords of a block."""
    divisor, root = [0] * (number - 1) + [1], 1
    for _ in range(number):
        for place in range(number):
            divisor[place] = _multiply(divisor[place], root) ^ (divisor[place + 1] if place + 1 < number else 0)
        root = _multiply(root, 2)
    remainder = [0] * number
    for value in data:
        factor = value ^ remainder.pop(0)
        remainder.append(0)
        remainder = [each ^ _multiply(divisor[place], factor) for place, each in enumerate(remainder)]
    return bytes(remainder)


class _Symbol:
    """A symbol with its patterns; the modules of the data are those that no pattern uses."""

    def __init__(self, version: int) -> None:
        self.size = size = 17 + 4 * version
        self._modules: Grid = [[0] * size for _ in range(size)]
        self._is_pattern = [[False] * size for _ in range(size)]
        for place in range(size):
            self._set(6, place, place % 2 == 0)
            self._set(place, 6, place % 2 == 0)
        for row, column in ((3, 3), (3, size - 4), (size - 4, 3)):
            self._draw_rings(row, column, 4)
        positions = _alignment(version)
        corners = {(6, 6), (6, size - 7), (size - 7, 6)}
        for center in product(positions, positions):
            if center not in corners:
                self._draw_rings(*center, 2)
        self._draw_format(0)
        if version >= 7:
            self._draw_version(version)

    def place(self, codewords: bytes) -> None:
        """Places the codewords in the free modules, in a zigzag of two columns."""
        bits = (value >> shift & 1 for value in codewords for shift in range(7, -1, -1))
        columns = [*range(self.size - 1, 6, -2), *range(5, 0, -2)]
        for number, right in enumerate(columns):
            rows = range(self.size) if number % 2 else range(self.size - 1, -1, -1)
            for row, column in product(rows, (right, right - 1)):
                if not self._is_pattern[row][column]:
                    self._modules[row][column] = next(bits, 0)

    def masked(self, mask: int) -> Grid:
        """Returns the finished symbol with one of the eight masks."""
        self._draw_format(mask)
        return [
            [
                module if self._is_pattern[row][column] else module ^ _is_inverted(mask, row, column)
                for column, module in enumerate(modules)
            ]
            for row, modules in enumerate(self._modules)
        ]

    def _set(self, row: int, column: int, is_dark: bool | int) -> None:
        self._modules[row][column] = int(is_dark)
        self._is_pattern[row][column] = True

    def _draw_rings(self, row: int, column: int, radius: int) -> None:
        """Draws a pattern of rings around its center; the light one outside may be cut off by the edge."""
        reach = range(-radius, radius + 1)
        for down, right in product(reach, reach):
            if 0 <= row + down < self.size and 0 <= column + right < self.size:
                distance = max(abs(down), abs(right))
                self._set(row + down, column + right, distance not in ((1,) if radius == 2 else (2, 4)))

    def _draw_format(self, mask: int) -> None:
        data = LEVEL_M << 3 | mask
        bits = (data << 10 | _remainder(data, FORMAT_POLYNOMIAL, 10)) ^ FORMAT_MASK
        last = self.size - 1
        for place in range(15):
            bit = bits >> place & 1
            beside = place if place < 6 else place + 1 if place < 8 else last - 14 + place
            below = last - place if place < 8 else 15 - place if place < 9 else 14 - place
            self._set(beside, 8, bit)
            self._set(8, below, bit)
        self._set(last - 7, 8, 1)

    def _draw_version(self, version: int) -> None:
        bits = version << 12 | _remainder(version, VERSION_POLYNOMIAL, 12)
        for place in range(18):
            far, near = self.size - 11 + place % 3, place // 3
            self._set(far, near, bits >> place & 1)
            self._set(near, far, bits >> place & 1)


def _remainder(data: int, polynomial: int, bits: int) -> int:
    rest = data
    for _ in range(bits):
        rest = rest << 1 ^ (rest >> bits - 1) * polynomial
    return rest


def _alignment(version: int) -> list[int]:
    """Returns the rows and columns of the small patterns."""
    if version == 1:
        return []
    number, last = version // 7 + 2, 10 + 4 * version
    step = -(-(last - 6) // (2 * number - 2)) * 2
    return [6, *(last - place * step for place in reversed(range(number - 1)))]


def _is_inverted(mask: int, row: int, column: int) -> bool:
    product_ = row * column
    match mask:
        case 0:
            return (row + column) % 2 == 0
        case 1:
            return row % 2 == 0
        case 2:
            return column % 3 == 0
        case 3:
            return (row + column) % 3 == 0
        case 4:
            return (row // 2 + column // 3) % 2 == 0
        case 5:
            return product_ % 2 + product_ % 3 == 0
        case 6:
            return (product_ % 2 + product_ % 3) % 2 == 0
    return ((row + column) % 2 + product_ % 3) % 2 == 0


def _penalty(grid: Grid) -> int:
    """Returns how hard a symbol is to read: long runs, blocks, look-alikes of the corners, unequal colors."""
    size, score = len(grid), 0
    columns = [list(column) for column in zip(*grid, strict=True)]
    for line in (*grid, *columns):
        run = 1
        for place in range(1, size + 1):
            if place < size and line[place] == line[place - 1]:
                run += 1
                continue
            score += run - 2 if run >= 5 else 0
            run = 1
        score += sum(40 for place in range(size - 10) if tuple(line[place : place + 11]) in FINDER_LIKE)
    for above, below in pairwise(grid):
        score += sum(
            3 for place in range(size - 1) if above[place] == above[place + 1] == below[place] == below[place + 1]
        )
    dark = sum(map(sum, grid))
    return score + abs(dark * 20 - size * size * 10) // (size * size) * 10

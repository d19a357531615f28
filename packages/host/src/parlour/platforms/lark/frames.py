"""The binary frames of Lark's long connection: one small message of Protocol Buffers, written and read by hand."""

from dataclasses import field

from parlour_sdk.values import dataclass

CONTROL, DATA = 0, 1
VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
MAX_HEADERS = 100
MAX_VARINT_BYTES = 10


class FrameInvalid(Exception):
    """Raised for bytes that are no frame."""


@dataclass(slots=True)
class LarkFrame:
    """A frame. `method` is CONTROL or DATA, and `service` is the number of the connection."""

    method: int
    service: int
    headers: dict[str, str] = field(default_factory=dict)
    payload: bytes = b""
    sequence: int = 0
    log_id: int = 0
    payload_encoding: str = ""
    payload_type: str = ""
    log_name: str = ""

    def encode(self) -> bytes:
        """Returns the bytes of the frame. The first four fields are required, so zeros are written too."""
        parts = [
            _number(number, value)
            for number, value in enumerate((self.sequence, self.log_id, self.service, self.method), 1)
        ]
        for key, value in self.headers.items():
            parts.append(_bytes(5, _bytes(1, key.encode()) + _bytes(2, value.encode())))
        optional = ((6, self.payload_encoding.encode()), (7, self.payload_type.encode()), (8, self.payload))
        parts += [_bytes(number, value) for number, value in (*optional, (9, self.log_name.encode())) if value]
        return b"".join(parts)


def decode_frame(data: bytes) -> LarkFrame:
    """Reads a frame; unknown fields are skipped.

    Raises FrameInvalid if the bytes are cut off or no frame, or have more than MAX_HEADERS headers.
    """
    frame = LarkFrame(CONTROL, 0)
    for number, value in _fields(data):
        match number, value:
            case 1, int():
                frame.sequence = value
            case 2, int():
                frame.log_id = value
            case 3, int():
                frame.service = value
            case 4, int():
                frame.method = value
            case 5, bytes():
                key, content = _header(value)
                frame.headers[key] = content
                if len(frame.headers) > MAX_HEADERS:
                    raise FrameInvalid(f"a frame has at most {MAX_HEADERS} headers")
            case 6, bytes():
                frame.payload_encoding = _text(value)
            case 7, bytes():
                frame.payload_type = _text(value)
            case 8, bytes():
                frame.payload = value
            case 9, bytes():
                frame.log_name = _text(value)
    return frame


def _header(data: bytes) -> tuple[str, str]:
    values = {number: value for number, value in _fields(data) if isinstance(value, bytes)}
    return _text(values.get(1, b"")), _text(values.get(2, b""))


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    found: list[tuple[int, int | bytes]] = []
    place = 0
    while place < len(data):
        tag, place = _read_varint(data, place)
        kind = tag & 7
        if kind == VARINT:
            value, place = _read_varint(data, place)
            found.append((tag >> 3, value))
            continue
        if kind == DELIMITED:
            size, place = _read_varint(data, place)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise FrameInvalid("a frame has a field of an unknown kind")
        if place + size > len(data):
            raise FrameInvalid("a frame ends within a field")
        found.append((tag >> 3, data[place : place + size]))
        place += size
    return found


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for count in range(MAX_VARINT_BYTES):
        if place >= len(data):
            raise FrameInvalid("a frame ends within a number")
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, place
    raise FrameInvalid("a number of a frame is too long")


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while True:
        byte, value = value & 0x7F, value >> 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3 | VARINT) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | DELIMITED) + _varint(len(value)) + value


def _text(value: bytes) -> str:
    return value.decode(errors="replace")

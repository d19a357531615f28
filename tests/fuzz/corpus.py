"""Generates frames from a seed: valid ones for every action, then spoiled in their content and in their bytes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from parlour_sdk.protocol.host_actions import HOST_ACTIONS as ACTIONS

PLUGIN_ID = "test/patient-agent"
HELLO = json.dumps({"seq_id": 1, "action": "hello", "data": {"protocol": 1, "sdk": "0", "plugin": PLUGIN_ID}}).encode()
WORDS = ("conversation", "actor", "plugin", "user", "text", "*", "", "a" * 300, "../../etc/passwd", "\u0000", "￿", "🜁")
NUMBERS = (0, 1, -1, 2**31, 2**53, 2**63, 10**30, 0.5, -1e300)
BYTES = (b"\x00", b"\xff", b"\n", b'"', b"\\", b"{", b"[", b"]", b",", b"e9", b"\\ud800", b"NaN", b"-", b"\xed\xa0\x80")


@dataclass(slots=True)
class Corpus:
    seed: int
    runs: tuple[str, ...]
    """Ids of runs, its own and those of other plugins."""

    def session(self, number: int) -> Iterator[bytes]:
        """Returns the frames of one connection after its greeting."""
        random = Random(f"{self.seed}/{number}")
        spoiling = random.choice((0.0, 0.02, 0.3))
        for seq_id in range(2, random.randint(3, 60)):
            frame = _line(self._frame(random, seq_id, spoiling > 0))
            yield spoiled(random, frame) if random.random() < spoiling else frame

    def _frame(self, random: Random, seq_id: int, fatal: bool) -> Any:
        """Returns a frame. One in ten may close the connection, if `fatal` allows it."""
        kind = random.random()
        if kind < 0.8:
            action = random.choice(list(ACTIONS))
            return {"seq_id": seq_id, "action": action, "data": self._data(random, action)}
        if kind < 0.85:
            hello = {"protocol": self._value(random), "sdk": "0", "plugin": random.choice((PLUGIN_ID, "a/b", 7))}
            return {"seq_id": seq_id, "action": "hello", "data": hello}
        if kind < 0.9 or not fatal:
            return random.choice(({"cancel": random.randint(0, 70)}, {"credit": random.randint(0, 70), "n": 1}))
        answer = {"seq_id": random.randint(0, 9), "code": random.choice((0, 0, "runtime_error", 1, None))}
        part = {**answer, "data": self._value(random), "chunk_status": random.choice(("continue", "end", None, 3))}
        return random.choice((part, part, {"credit": 1, "n": random.choice(NUMBERS)}, {}, [], self._value(random)))

    def _data(self, random: Random, action: str) -> Any:
        """Returns the fields of the action, each with the right type more often than not."""
        if random.random() < 0.05:
            return self._value(random)
        fields = ACTIONS[action].request.model_fields
        data = {name: self._field(random, name, str(field.annotation)) for name, field in fields.items()}
        return {name: value for name, value in data.items() if random.random() < 0.9}

    def _field(self, random: Random, name: str, kind: str) -> Any:
        if name == "run_id" or name.endswith("run_id"):
            return random.choice((*self.runs, *self.runs, None, "none"))
        if random.random() < 0.06:
            return self._value(random)
        if "int" in kind or "float" in kind:
            return random.choice((1, 5, 50, *NUMBERS))
        if "bool" in kind:
            return random.random() < 0.5
        if "list" in kind:
            return [self._value(random) for _ in range(random.randint(0, 3))]
        if "dict" in kind:
            return {random.choice(WORDS): self._value(random) for _ in range(random.randint(0, 3))}
        return random.choice((*WORDS, *self.runs))

    def _value(self, random: Random, depth: int = 0) -> Any:
        kind = random.randint(0, 5 if depth < 4 else 3)
        match kind:
            case 0:
                return random.choice(WORDS)
            case 1:
                return random.choice(NUMBERS)
            case 2:
                return random.choice((None, True, False))
            case 3:
                return random.choice(self.runs)
            case 4:
                return [self._value(random, depth + 1) for _ in range(random.randint(0, 4))]
            case _:
                return {random.choice(WORDS): self._value(random, depth + 1) for _ in range(random.randint(0, 4))}


def _line(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")


def spoiled(random: Random, frame: bytes) -> bytes:
    """Spoils the frame in one to four places."""
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(frame))
        match random.randint(0, 5):
            case 0:
                frame = frame[:place]
            case 1:
                frame = frame[:place] + random.choice(BYTES) + frame[place:]
            case 2:
                frame = frame[:place] + random.randbytes(random.randint(1, 8)) + frame[place + 4 :]
            case 3:
                frame = frame[:place] + frame[random.randint(0, len(frame)) :] + frame[place:]
            case 4:
                pending = random.choice((b"[", b'{"a":')) * random.choice((3, 70, 5000))
                frame = frame.replace(b'"data":', b'"data":' + pending)
            case _:
                frame = frame[:place] + b"[" * random.choice((10, 100, 100_000)) + frame[place:]
    return frame

"""The result of a check."""

from typing import Literal

from parlour_sdk.values import dataclass

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of a check, with what to do if it is not ok."""

    area: str
    state: State
    sentence: str
    remedy: str = ""

    def __str__(self) -> str:
        text = f"{self.state:8} {self.area:12} {self.sentence}"
        return f"{text}\n{'':22}-> {self.remedy}" if self.remedy else text


def ok(area: str, sentence: str) -> Finding:
    return Finding(area, "ok", sentence)


def warning(area: str, sentence: str, remedy: str) -> Finding:
    return Finding(area, "warning", sentence, remedy)


def problem(area: str, sentence: str, remedy: str) -> Finding:
    return Finding(area, "problem", sentence, remedy)

"""Formats the results as a table and as JSON. Measures nothing itself."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Verdict = Literal["ok", "over", ""]


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that the figure should meet."""

    bound: float
    kind: Literal["at most", "at least"] = "at most"

    def __str__(self) -> str:
        return f"{'<=' if self.kind == 'at most' else '>='} {self.bound:g}"

    def met_by(self, value: float) -> bool:
        return value <= self.bound if self.kind == "at most" else value >= self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        if self.target is None:
            return ""
        return "ok" if self.target.met_by(self.value) else "over"


@dataclass(slots=True)
class Report:
    environment: dict[str, str]
    sections: dict[str, list[Figure]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    """Messages about figures that could not be measured."""

    def add(self, section: str, figures: Iterable[Figure]) -> None:
        self.sections.setdefault(section, []).extend(figures)

    @property
    def missed(self) -> list[Figure]:
        return [figure for figures in self.sections.values() for figure in figures if figure.verdict == "over"]

    def text(self) -> str:
        lines = [f"{name:<12} {value}" for name, value in self.environment.items()]
        for section, figures in self.sections.items():
            lines += ["", section, "-" * len(section), *(_line(figure) for figure in figures)]
        lines += ["", f"{len(self.missed)} over target" if self.missed else "all targets met"]
        lines += [f"NOT MEASURED: {failure}" for failure in self.failures]
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        sections = {
            section: [{**asdict(figure), "verdict": figure.verdict} for figure in figures]
            for section, figures in self.sections.items()
        }
        return {"environment": self.environment, "sections": sections, "failures": self.failures}

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")


def _line(figure: Figure) -> str:
    target = "" if figure.target is None else str(figure.target)
    return (
        f"{figure.name:<46} {_number(figure.value):>10} {figure.unit:<7} {target:>9}  {figure.verdict:<5} {figure.note}"
    )


def _number(value: float) -> str:
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"

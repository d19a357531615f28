"""Keeps the newest figures of each benchmark, and writes them into the pages that show them: `make bench`.

The pages are a function of `bench/results.json`, so a test can compare them.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environment import REPOSITORY
from .report import Report

RESULTS = REPOSITORY / "bench" / "results.json"
FIGURES_PAGE = REPOSITORY / "docs" / "performance.md"
TITLES = {
    "onebot": "OneBot, with NoneBot2 alternating",
    "idle": "An idle Host",
    "spine": "Web chat and HTTP",
    "wire": "The connection to plugins",
    "policies": "Message policies, compared with none",
    "runners": "Agents of services, with fakes that answer at once",
    "others": "Other systems, installed beside it",
    "history": "Long histories",
    "writers": "Several writers on PostgreSQL",
    "agent": "What the local agent gives its model",
}
DESCRIBED = ("machine", "load before", "load after", "python", "durability")
Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """A row of the tables in the READMEs."""

    titles: tuple[str, str]
    """In English and in Simplified Chinese."""
    section: str
    figure: str
    format: str
    ratio: str = ""
    ratio_format: str = "{:.1f} × NoneBot2"

    def value(self, results: Results) -> str:
        shown = [self.format.format(_value(results, self.section, self.figure))]
        if self.ratio:
            shown.append(self.ratio_format.format(_value(results, self.section, self.ratio)))
        return ", ".join(shown)


ECHO, NONEBOT = "echo-agent", "bare NoneBot2"
ROWS = (
    SummaryRow(
        ("OneBot message, p50", "OneBot 消息，p50"),
        "onebot",
        f"{ECHO}: one after the other, p50",
        "{:.1f} ms",
        f"{ECHO}: p50 against {NONEBOT}",
    ),
    SummaryRow(
        ("OneBot, 50 users", "OneBot，50 个用户"),
        "onebot",
        f"{ECHO}: 50 users, rate",
        "{:,.0f} /s",
        f"{ECHO}: rate against {NONEBOT}",
        "{:.2f} × NoneBot2",
    ),
    SummaryRow(("memory of an idle Host", "空闲 Host 的内存"), "idle", "idle: Host RSS", "{:.0f} MB"),
    SummaryRow(("start", "启动"), "idle", "exec to ready, fresh data directory", "{:.1f} s"),
    SummaryRow(
        ("lost, duplicated or mismatched", "丢失、重复或错配"),
        "onebot",
        f"{ECHO}: lost, doubled or mismatched",
        "{:.0f}",
    ),
)
HEADS = ("| | Parlour | target |\n| --- | --- | --- |", "| | Parlour | 目标 |\n| --- | --- | --- |")


def record(report: Report, database: str) -> None:
    """Keeps the figures of the sections that this run measured, and writes the pages."""
    results = read()
    about = {name: report.environment[name] for name in DESCRIBED}
    written = report.as_dict()["sections"]
    for name in report.sections:
        results[name] = {"commit": _commit(), "database": database, **about, "figures": written[name]}
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for page, content in pages(results):
        page.write_text(content, encoding="utf-8")


def read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return found


def pages(results: Results) -> Iterator[tuple[Path, str]]:
    """Yields each page that shows figures, with its content."""
    yield FIGURES_PAGE, _replaced(FIGURES_PAGE, _all_figures(results))
    for language, name in enumerate(("README.md", "README.zh-Hans.md")):
        yield REPOSITORY / name, _replaced(REPOSITORY / name, _summary(results, language))


def _all_figures(results: Results) -> str:
    return "\n\n".join(_section(name, results[name]) for name in TITLES if name in results)


def _section(name: str, measured: Mapping[str, Any]) -> str:
    about = f"At commit {measured['commit']}, on {measured['machine']}; load before: {measured['load before']}."
    lines = [f"### {TITLES[name]}", "", f"`python -m bench {name}`. {about}", ""]
    lines += ["| figure | value | target | |", "| --- | --- | --- | --- |"]
    for each in measured["figures"]:
        target, verdict = each["target"], " (missed)" if each["verdict"] == "over" else ""
        bound = f"{target['kind']} {target['bound']:g}{verdict}" if target else ""
        value = f"{_number(each['value'])} {each['unit']}".rstrip()
        lines.append(f"| {each['name']} | {value} | {bound} | {each['note']} |")
    return "\n".join(lines)


def _summary(results: Results, language: int) -> str:
    lines = [HEADS[language]]
    for row in ROWS:
        target = next(each["target"] for each in results[row.section]["figures"] if each["name"] == row.figure)
        sign = "≥" if target["kind"] == "at least" else "≤"
        bound = f"{sign} {target['bound']:g}" if target["bound"] else "0"
        lines.append(f"| {row.titles[language]} | {row.value(results)} | {bound} |")
    return "\n".join(lines)


def _value(results: Results, section: str, name: str) -> float:
    return float(next(each["value"] for each in results[section]["figures"] if each["name"] == name))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"


def _replaced(page: Path, figures: str) -> str:
    """Returns the page with these figures between its marks."""
    text = page.read_text(encoding="utf-8")
    begin, end = "<!-- figures: begin, written by make bench -->", "<!-- figures: end -->"
    changed, count = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{figures}\n{end}", text, flags=re.DOTALL
    )
    assert count == 1, f"{page} has no place for figures"
    return changed


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude", "*"]
    found = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"

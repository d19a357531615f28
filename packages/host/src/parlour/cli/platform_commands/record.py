"""The record of a probe: what the real platform has shown, from which the documentation takes the level `live`."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from parlour.testing.evidence import Section


class ProbeRecord:
    """Names of capabilities only; reasons of failures are redacted before they are added."""

    def __init__(self, platform: str, mode: str, version: str, day: str) -> None:
        self._head = {"platform": platform, "mode": mode, "version": version, "day": day}
        self.shown: defaultdict[Section, set[str]] = defaultdict(set)
        self.problems: dict[str, str] = {}

    def show(self, section: Section, name: str) -> None:
        self.shown[section].add(name)
        self.problems.pop(f"{section} {name}", None)

    def fail(self, section: Section, name: str, reason: str) -> None:
        if name not in self.shown[section]:
            self.problems[f"{section} {name}"] = reason

    def document(self) -> dict[str, Any]:
        shown = {section: sorted(names) for section, names in sorted(self.shown.items()) if names}
        return {**self._head, "shown": shown, "problems": dict(sorted(self.problems.items()))}

    def write(self, file: Path) -> None:
        file.write_text(json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

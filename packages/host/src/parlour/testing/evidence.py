"""Records what tests have shown of an adapter, in a file from which the documentation is made.

A test passes all results of one section, and the file must have exactly these. The setting `PARLOUR_EVIDENCE=write` in
the environment writes the file instead, so that it is not filled in by hand.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

Level = Literal["live", "peer", "protocol+", "protocol", "unit"]
Section = Literal["events", "receive", "send", "apis", "actions", "behaviours"]
LEVELS: Final[tuple[Level, ...]] = ("live", "peer", "protocol+", "protocol", "unit")
"""Levels, the strongest first."""
Shown = dict[str, dict[str, list[str]]]
"""Names by level and section."""


class Evidence:
    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> Shown:
        return json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}

    def hold(self, level: Level, section: Section, names_shown: Iterable[str]) -> None:
        """Fails if the file has other names than those that were just shown."""
        evidence, names = self.read(), sorted(set(names_shown))
        if os.environ.get("PARLOUR_EVIDENCE") == "write":
            evidence.setdefault(level, {})[section] = names
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(evidence, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            return
        claimed = evidence.get(level, {}).get(section, [])
        assert claimed == names, (
            f"{self._file} claims {sorted(set(claimed) - set(names))} without proof and lacks "
            f"{sorted(set(names) - set(claimed))}; run this test with PARLOUR_EVIDENCE=write, then make documents"
        )

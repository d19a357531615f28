"""What tests have shown of an adapter, kept in a file that the documentation is made from.

A test hands over all that it showed of one section; the file must say exactly that. With `PARLOUR_EVIDENCE=write` in
the environment the file is written instead, so that nobody fills it by hand.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

Level = Literal["live", "peer", "protocol", "unit"]
Section = Literal["events", "receive", "send", "apis", "actions"]
LEVELS: Final[tuple[Level, ...]] = ("live", "peer", "protocol", "unit")
"""From the strongest on."""
Shown = dict[str, dict[str, list[str]]]
"""Level, section, names."""


class Evidence:
    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self) -> Shown:
        return json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}

    def hold(self, level: Level, section: Section, shown: Iterable[str]) -> None:
        """Fails when the file claims anything else than what was shown just now."""
        told, names = self.read(), sorted(set(shown))
        if os.environ.get("PARLOUR_EVIDENCE") == "write":
            told.setdefault(level, {})[section] = names
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            return
        claimed = told.get(level, {}).get(section, [])
        assert claimed == names, (
            f"{self._file} claims {sorted(set(claimed) - set(names))} without proof and lacks "
            f"{sorted(set(names) - set(claimed))}; run this test with PARLOUR_EVIDENCE=write, then make documents"
        )

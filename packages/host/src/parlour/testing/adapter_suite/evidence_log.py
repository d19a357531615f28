"""Collects the rows that passed, and compares them with a platform's evidence file."""

from collections import defaultdict

from parlour.testing.evidence import Evidence, Level, Section

from .rows import Row


class EvidenceLog:
    """Holds the outcomes of one platform's rows in this test process."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._attempted: dict[tuple[Level, Section], set[str]] = defaultdict(set)
        self._passed: dict[tuple[Level, Section], set[str]] = defaultdict(set)

    def begin(self, row: Row, level: Level) -> None:
        self._attempted[self._place(row, level)].add(row.name)

    def passed(self, row: Row, level: Level) -> None:
        self._passed[self._place(row, level)].add(row.name)

    def compare(self) -> None:
        """Fails if the file claims a row that did not pass, or lacks one that did. Rows that were not run stay as
        they are. `PARLOUR_EVIDENCE=write` writes the file instead.
        """
        claimed = self._evidence.read()
        for (level, section), attempted in self._attempted.items():
            names = set(claimed.get(level, {}).get(section, ()))
            self._evidence.hold(level, section, (names - attempted) | self._passed[level, section])

    @staticmethod
    def _place(row: Row, level: Level) -> tuple[Level, Section]:
        """Returns the place of a row in the file; a row without a Host shows the adapter alone."""
        return (level if row.on_host else "unit", row.section)

"""Copies the notes of the changelog to where `parlour doctor` reads them: `python -m tools.upgrade_notes`."""

from pathlib import Path

CHANGELOG = Path("CHANGELOG.md")
TARGET = Path("packages/host/src/parlour/operations/doctor/needs_attention.txt")
HEADING = "### Needs attention"


def notes(changelog: str) -> list[str]:
    """Returns the notes of the newest release in the changelog, without the markup of code."""
    section = changelog.partition(f"{HEADING}\n")[2].partition("\n##")[0]
    return [line[2:].replace("`", "") for line in section.splitlines() if line.startswith("- ")]


def text() -> str:
    return "".join(f"{note}\n" for note in notes(CHANGELOG.read_text(encoding="utf-8")))


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")

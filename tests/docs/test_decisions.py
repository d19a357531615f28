"""Checks the decisions: the index lists every page with its title and status, and links lead to existing pages."""

import re
from collections.abc import Iterator
from pathlib import Path

DOCUMENTS = Path(__file__).parents[2] / "docs"
DECISIONS = DOCUMENTS / "decisions"
MAX_LINES = 40
SECTIONS = ("**Context.**", "**Decision.**", "**Consequences.**")
STATUS = re.compile(
    r"accepted(; amended by REFS)?|superseded by REFS".replace("REFS", r"\[\d+\]\(\S+\)(, \[\d+\]\(\S+\))*")
)
ROW = re.compile(r"^\| (\d+) \| \[(.+)\]\((\S+)\) \| (.+) \|$", re.M)
LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)[^)]*\)")


def decisions() -> list[Path]:
    return sorted(DECISIONS.glob("[0-9]*.md"))


def index_row(page: Path) -> tuple[str, str, str, str]:
    """Returns number, title, file name and status of a page, as the index must list them."""
    title, _, status = page.read_text(encoding="utf-8").splitlines()[:3]
    number, _, name = title.removeprefix("# ").partition(". ")
    return number, name, page.name, status.removeprefix("Status: ")


def links_to_decisions() -> Iterator[tuple[Path, str, Path]]:
    """Yields page, label and target of each link from or to a decision."""
    for page in (DOCUMENTS.parent / "README.md", DOCUMENTS.parent / "CONTRIBUTING.md", *DOCUMENTS.rglob("*.md")):
        for label, target in LINK.findall(page.read_text(encoding="utf-8")):
            if page.parent == DECISIONS or "decisions/" in target:
                yield page, label, page.parent / target


def test_the_index_lists_every_decision_once_with_title_and_status() -> None:
    listed = ROW.findall((DECISIONS / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed, key=lambda row: int(row[0])) == [index_row(page) for page in decisions()]


def test_numbers_are_unique_and_match_the_file_names() -> None:
    numbers = [index_row(page)[0] for page in decisions()]
    assert len(set(numbers)) == len(numbers)
    assert [str(int(page.name[:4])) for page in decisions()] == numbers


def test_a_decision_is_short_and_has_a_status_and_all_sections() -> None:
    for page in decisions():
        text = page.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MAX_LINES, page.name
        assert STATUS.fullmatch(index_row(page)[3]), page.name
        assert [each for each in SECTIONS if each not in text] == [], page.name


def test_links_from_and_to_decisions_lead_to_the_page_they_name() -> None:
    links = list(links_to_decisions())
    assert links
    for page, label, target in links:
        assert target.is_file(), f"{page.name}: {target} is missing"
        number = re.fullmatch(r"(?:[Dd]ecision\s+)?(\d+)", label)
        assert number is None or int(number[1]) == int(target.name[:4]), f"{page.name}: [{label}] is {target.name}"

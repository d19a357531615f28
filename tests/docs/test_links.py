"""Tests that links between pages lead to a page, that the index lists every page, and that named paths exist."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .pages import ROOT

DOCS = ROOT / "docs"
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
SOURCES = (ROOT, ROOT / "packages/sdk/src", ROOT / "packages/host/src/parlour")
"""Pages name files relative to one of these folders."""
ABOUT_CODE = [
    ROOT / "AGENTS.md",
    ROOT / "CONTRIBUTING.md",
    DOCS / "platforms/writing-an-adapter.md",
    *sorted((DOCS / "maintainers").glob("*.md")),
]


def pages() -> list[Path]:
    return [ROOT / "README.md", ROOT / "AGENTS.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]


def links(page: Path) -> Iterator[tuple[str, str]]:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    yield from LINK.findall(text)


def test_links_lead_to_existing_pages() -> None:
    for page in pages():
        for path, anchor in links(page):
            target = page.parent / path if path else page
            assert target.exists(), f"{page}: {path}"
            assert not anchor or anchor in anchors(target.resolve()), f"{page}: {path}#{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    return set(map(anchor_of, re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)))


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_index_lists_every_page() -> None:
    index = DOCS / "README.md"
    listed = {(DOCS / path).resolve() for path, _ in links(index)}
    expected = {page for page in DOCS.rglob("*.md") if "decisions" not in page.relative_to(DOCS).parts}

    assert expected - listed == {index}


@pytest.mark.parametrize("page", ABOUT_CODE, ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = re.findall(r"`([\w./-]+/[\w./-]+\.\w+)`", page.read_text(encoding="utf-8"))
    missing = [each for each in named if not any((source / each).exists() for source in SOURCES)]

    assert missing == []

"""Tests the documentation site: its navigation and links, and that it is built and can be searched."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.harness import ROOT
from tools.docs_site.hooks import navigation, rewrite_links

INDEX = """\
## Guide: use Parlour

| [Bots](guide/bots.md) | connect; [supported features](platforms/x.md) |
| [Contributing](../CONTRIBUTING.md) | commands |
"""


def test_the_navigation_follows_the_index() -> None:
    assert navigation(INDEX) == [
        {"Home": "README.md"},
        {"Guide": [{"Bots": "guide/bots.md"}, {"Contributing": "contributing.md"}]},
    ]


@pytest.mark.parametrize(
    ("file", "link", "expected"),
    [
        ("docs/guide/bots.md", "[a](../README.md#x)", "[a](../README.md#x)"),
        ("docs/guide/bots.md", "[a](../../SECURITY.md)", "[a](../security-policy.md)"),
        ("docs/guide/bots.md", "[a](../../packages/x.py)", "a"),
        ("README.md", "[a](docs/guide/bots.md#add)", "[a](guide/bots.md#add)"),
        ("README.md", "[a](https://example.org/b.md)", "[a](https://example.org/b.md)"),
    ],
)
def test_links_lead_to_pages_of_the_site(file: str, link: str, expected: str) -> None:
    assert rewrite_links(link, Path(file)) == expected


@pytest.mark.long
@pytest.mark.timeout(300)
def test_the_site_is_built_searchable_and_without_broken_links(tmp_path: Path) -> None:
    built = subprocess.run(["make", "docs", f"DOCS={tmp_path}"], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr

    pages = list(tmp_path.rglob("*.html"))
    index = json.loads((tmp_path / "search" / "search_index.json").read_text())
    assert any("bubblewrap" in entry["text"] for entry in index["docs"])
    broken = [
        f"{page.relative_to(tmp_path)}: {link}" for page in pages for link in _links(page) if not _leads(page, link)
    ]
    assert broken == []
    assert "First steps" in (tmp_path / "index.html").read_text()


def _links(page: Path) -> list[str]:
    found = re.findall(r'(?:href|src)="?([^"\s>#?]+)', page.read_text(encoding="utf-8"))
    return [link for link in found if not re.match(r"[a-z]+:|/", link) and page.name != "404.html"]


def _leads(page: Path, link: str) -> bool:
    return (page.parent / unquote(link)).exists()

"""Compares the pages in Simplified Chinese with their English sources, section by section.

Each translation keeps the digests of the sections that it was made from. `python -m tools.translations` writes into
each page which of its sections are older than their source, and the list of pages; `make documents` runs it. After a
translation was brought up to date, `python -m tools.translations --translated PAGE ...` records that.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "zh-Hans"
INDEX = FOLDER / "README.md"
SOURCES = ("README.md", "docs/guide/first-steps.md", "docs/operate/deployment.md")
"""Translated pages besides the guides of the platforms."""
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_DIGESTS = re.compile(r"\n<!-- translated from: (\[.*?\]) -->\n\Z", re.DOTALL)
_NOTE = re.compile(r"\n<!-- behind: begin -->\n.*?<!-- behind: end -->\n", re.DOTALL)
_FIGURES = re.compile(r"<!-- figures: begin.*?<!-- figures: end -->", re.DOTALL)
_LIST = re.compile(r"(<!-- pages: begin -->\n).*?(<!-- pages: end -->)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    source: Path
    translation: Path

    def behind(self) -> list[str]:
        """Returns the titles of the source's sections that are newer than the translation."""
        return outdated(self.source.read_text(encoding="utf-8"), self.translation.read_text(encoding="utf-8"))

    def marked(self) -> str:
        """Returns the translation with a note about the sections that are behind."""
        text, titles = _NOTE.sub("", self.translation.read_text(encoding="utf-8")), self.behind()
        if not titles:
            return text
        link = _relative(self.source, self.translation)
        note = f"> 本页的这些部分落后于[英文版]({link})：{'、'.join(titles)}。"
        title, rest = text.split("\n", 1)
        return f"{title}\n\n<!-- behind: begin -->\n{note}\n<!-- behind: end -->\n{rest}"

    def recorded(self) -> str:
        """Returns the translation with the digests of the source as it is now."""
        text = _DIGESTS.sub("\n", _NOTE.sub("", self.translation.read_text(encoding="utf-8"))).rstrip("\n")
        digests = list(_digests(self.source.read_text(encoding="utf-8")).values())
        return f"{text}\n\n<!-- translated from: {json.dumps(digests)} -->\n"


def pages() -> list[Page]:
    """Returns every translated page."""
    return [page for page in wanted_pages() if page.translation.exists()]


def wanted_pages() -> list[Page]:
    """Returns every page that is or should be translated, with the place of its translation."""
    guides = sorted((ROOT / "docs" / "platforms").glob("*-guide.md"))
    sources = [*(ROOT / source for source in SOURCES), *guides]
    return [Page(source, _place(source)) for source in sources]


def outdated(source: str, translation: str) -> list[str]:
    """Returns the titles of the sections of a source that a translation was not made from."""
    found = _DIGESTS.search(translation)
    known = set(json.loads(found[1])) if found else set()
    return [title for title, digest in _digests(source).items() if digest not in known]


def sections(text: str) -> Iterator[tuple[str, str]]:
    """Yields the title and the text of each section. The first one has the title of the page."""
    parts = _SECTION.split(text)
    yield parts[0].partition("\n")[0].removeprefix("# "), parts[0]
    yield from zip(parts[1::2], parts[2::2], strict=True)


def index() -> str:
    """Returns the list of the translated pages, with their state."""
    rows = ["| 页面 | 英文版 | 状态 |", "| --- | --- | --- |"]
    for page in wanted_pages():
        source = _relative(page.source, INDEX)
        if not page.translation.exists():
            rows.append(f"| | [{page.source.name}]({source}) | 未翻译 |")
            continue
        title = page.translation.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        state = "、".join(page.behind())
        own = _relative(page.translation, INDEX)
        rows.append(f"| [{title}]({own}) | [{page.source.name}]({source}) | {f'落后：{state}' if state else '最新'} |")
    listed = "\n".join(rows)
    return _LIST.sub(lambda found: f"{found[1]}{listed}\n{found[2]}", INDEX.read_text(encoding="utf-8"))


def _digests(text: str) -> dict[str, str]:
    plain = _FIGURES.sub("", text)
    return {title: hashlib.sha256(body.strip().encode()).hexdigest()[:8] for title, body in sections(plain)}


def _place(source: Path) -> Path:
    if source.parent == ROOT:
        return ROOT / "README.zh-Hans.md"
    return FOLDER / source.relative_to(ROOT / "docs")


def _relative(target: Path, page: Path) -> str:
    ups, parent = 0, page.parent
    while not target.is_relative_to(parent):
        ups, parent = ups + 1, parent.parent
    return "../" * ups + target.relative_to(parent).as_posix()


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--translated"]:
        named = {Path(argument).resolve() for argument in arguments[1:]}
        for page in pages():
            if page.translation in named:
                page.translation.write_text(page.recorded(), encoding="utf-8")
    for page in pages():
        page.translation.write_text(page.marked(), encoding="utf-8")
    INDEX.write_text(index(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

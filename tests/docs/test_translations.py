"""Tests that each page in Simplified Chinese exists, has the commands of its source, and says if it is behind."""

import re
from pathlib import Path

import pytest

from tools import translations

CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
PAGES = translations.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.source.stem)
def test_a_translation_says_which_of_its_sections_are_behind(page: translations.Page) -> None:
    behind = page.behind()
    stated = page.translation.read_text(encoding="utf-8")

    assert stated == page.marked(), f"{page.translation.name} is behind in {behind}: translate, or run make documents"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.source.stem)
def test_a_translated_section_has_the_commands_of_its_source(page: translations.Page) -> None:
    behind = page.behind()
    sources = list(translations.sections(page.source.read_text(encoding="utf-8")))
    translated = list(translations.sections(page.translation.read_text(encoding="utf-8")))
    if behind and len(sources) != len(translated):
        return  # a section was added or removed since

    for (title, source), (_, own) in zip(sources, translated, strict=True):
        if title not in behind:
            assert CODE.findall(own) == CODE.findall(source), f"{page.translation.name}: {title}"


def test_the_list_of_translations_has_their_state() -> None:
    """A page without a translation is in the list, too."""
    assert translations.INDEX.read_text(encoding="utf-8") == translations.index()


def test_a_changed_section_is_named_and_the_others_are_not(tmp_path: Path) -> None:
    source, translation = tmp_path / "page.md", tmp_path / "zh.md"
    source.write_text("# Title\n\nText.\n\n## One\n\nA\n\n## Two\n\nB\n")
    translation.write_text("# 标题\n\n文字。\n\n## 一\n\n甲\n\n## 二\n\n乙\n")
    page = translations.Page(source, translation)
    assert page.behind() == ["Title", "One", "Two"]

    translation.write_text(page.recorded())
    assert (page.behind(), page.marked()) == ([], page.recorded())

    source.write_text(source.read_text().replace("B", "C"))
    assert page.behind() == ["Two"]
    assert "> 本页的这些部分落后于[英文版](page.md)：Two。" in page.marked()
    translation.write_text(page.marked())
    assert page.marked() == translation.read_text(), "the note is not added twice"

"""Hooks of MkDocs: navigation from `docs/README.md`, pages of the root folder, and links that leave `docs`."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROOT_PAGES = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
ROOT_PAGES |= {"SECURITY.md": "security-policy.md", "README.zh-Hans.md": "readme.zh-Hans.md"}
_LINK = re.compile(r"\[([^\]]*)\]\(((?!https?:|mailto:|#)[^)\s#]+)(#[^)\s]*)?\)")
_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)


def on_config(config: Any) -> Any:
    config["nav"] = navigation((ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    return config


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File

    for name, page in ROOT_PAGES.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    source = page.file.src_uri
    place = Path(next((name for name, target in ROOT_PAGES.items() if target == source), f"docs/{source}"))
    return rewrite_links(markdown, place)


def navigation(index: str) -> list[Any]:
    """Returns the sections of the index with the pages that their tables link to."""
    parts = _SECTION.split(index)
    sections: list[Any] = [{"Home": "README.md"}]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        linked = [(path, name) for name, path, _ in _LINK.findall(body) if path.endswith(".md")]
        pages = {path: name for path, name in linked if name != "supported features"}
        inside = {ROOT_PAGES.get(path.removeprefix("../"), path): name for path, name in pages.items()}
        sections.append({title.partition(":")[0].partition(" (")[0]: [{name: path} for path, name in inside.items()]})
    return sections


def rewrite_links(markdown: str, place: Path) -> str:
    """Makes the links of a file in the repository relative to its page; text stays of those that are no pages."""
    depth = "../" * (len(place.parts) - 2)

    def rewritten(found: re.Match[str]) -> str:
        text, path, anchor = found[1], found[2], found[3] or ""
        target = Path(*_resolved(place.parent / path))
        if target.as_posix() in ROOT_PAGES:
            return f"[{text}]({depth}{ROOT_PAGES[target.as_posix()]}{anchor})"
        if target.parts[:1] != ("docs",):
            return text
        return (
            f"[{text}]({depth}{Path(*target.parts[1:]).as_posix()}{anchor})" if place.parts[0] != "docs" else found[0]
        )

    return _LINK.sub(rewritten, markdown)


def _resolved(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != "..":
            parts.append(part)
    return parts

"""Builds the matrix of all platforms, and one page for each."""

from collections.abc import Iterable, Iterator, Sequence

from .cells import Adapter, Cell

LEVELS = """\
Each cell names the strongest evidence that there is, and tests fill it, never people:

| | |
| --- | --- |
| `live` | seen on the real platform |
| `peer` | seen with a third-party implementation of the platform's protocol |
| `protocol` | seen with our simulator at the protocol's boundary, through adapter, Host, runtime and a plugin |
| `unit` | seen in a test of the adapter alone |
| `not-supported` | the platform or its protocol has no such thing; the platform's page says why |
"""
TITLES = {
    "events": "Events",
    "receive": "Components received",
    "send": "Components sent",
    "apis": "Platform API",
    "actions": "Its own actions",
}
NOTE = "<!-- made by `make documents` from manifests and evidence; change those -->\n"


def matrix(adapters: Sequence[Adapter]) -> str:
    """Builds the table that compares the capabilities of all platforms."""
    names = [adapter.manifest.name for adapter in adapters]
    heads = [f"[{name}]({name}.md)" for name in names]
    lines = [NOTE, "# Platforms\n", LEVELS]
    for section in ("events", "receive", "send", "apis"):
        lines += [f"## {TITLES[section]}\n", _row(["", *heads]), _row(["---"] * (len(names) + 1))]
        told = [{_common(cell): cell for cell in adapter.cells() if cell.section == section} for adapter in adapters]
        lines += [_row([f"`{name}`", *(each[name].level for each in told)]) for name in told[0]]
        lines.append("")
    return "\n".join(lines)


def _common(cell: Cell) -> str:
    """Returns the row name of a capability; platform-specific ones, which have a different name on each platform, share
    a row."""
    return "platform.{name}.*" if cell.name.startswith("platform.") else cell.name


def page(adapter: Adapter, has_guide: bool) -> str:
    """Builds the page of a platform. `has_guide` adds a link to the guide next to it, which is written by hand."""
    manifest = adapter.manifest
    lines = [NOTE, f"# {manifest.label['en_US']}\n", f"{manifest.description['en_US']}\n"]
    if has_guide:
        guide = f"{manifest.name}-guide.md"
        lines.append(f"How to connect it, and what it says when something goes wrong: [{guide}]({guide}).\n")
    lines += ["## Settings\n", *_table(["name", "type", "default", ""], _settings(adapter)), ""]
    lines += ["## Limits\n", *_table(["", ""], _limits(adapter)), ""]
    cells = list(adapter.cells())
    for section, title in TITLES.items():
        rows = [[f"`{cell.name}`", cell.level, _words(adapter, cell)] for cell in cells if cell.section == section]
        lines += [f"## {title}\n", *_table(["", "evidence", ""], rows), ""]
    return "\n".join(lines)


def _settings(adapter: Adapter) -> Iterator[list[str]]:
    for item in adapter.manifest.config:
        shown = " and ".join(f"{name} is {value}" for name, value in (item.show_if or {}).items())
        described = (item.description or {}).get("en_US", item.label["en_US"])
        default = "" if item.default is None else f"`{item.default}`"
        yield [f"`{item.name}`", item.type, default, f"{described}{f' (when {shown})' if shown else ''}"]


def _limits(adapter: Adapter) -> Iterator[list[str]]:
    limits = adapter.manifest.limits
    yield ["longest text of a message", f"{limits.text:,} {limits.text_unit}"]
    edits = f"{limits.edits_per_second:g} a second" if limits.edits_per_second else "none"
    yield ["edits of a message", edits]
    yield ["largest file", f"{limits.file_bytes // 2**20} MiB"]
    yield ["text is written as", adapter.manifest.dialect]
    yield ["ways to connect", ", ".join(mode.label["en_US"] for mode in adapter.manifest.modes.values())]


def _words(adapter: Adapter, cell: Cell) -> str:
    if cell.section == "actions":
        return adapter.manifest.actions[cell.name].description
    return cell.reason


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [_row(heads), _row(["---"] * len(heads)), *(_row(row) for row in rows)]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

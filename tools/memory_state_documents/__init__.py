"""Writes the page about in-memory state from the declarations in `declarations.py`."""

from pathlib import Path

from .declarations import CACHES, PER_HOST, PER_PART

PAGE = Path("docs/maintainers/in-memory-state.md")
INTRODUCTION = """# In-memory state

Everything that a Host keeps in memory and changes, and whose state it is when several Hosts share a database. This page
is generated from `tools/memory_state_documents/declarations.py` by `make documents`. A test walks the objects of a
built Host and fails if it finds a container that is not declared there.

A container that is new is one of three things:

- **per part**: it belongs to conversations, bots or other keys that exactly one Host owns at a time. The Host that
  takes a part over rebuilds it by recovery.
- **per Host**: it belongs to the process and stays correct whatever other Hosts do.
- **a cache**: a copy of a table, which needs a way to stay current: `core/config/change_watcher.py` reloads
  configuration when its version changes.

Settings and other values that don't change after they were made are left out, and so are the objects of single runs,
connections and requests.
"""


def text() -> str:
    """Returns the page."""
    return "\n".join(
        [
            INTRODUCTION,
            *_table("Per part", ("container", "contains"), [(name, note) for name, note in PER_PART.items()]),
            *_table("Per Host", ("container", "contains"), [(name, note) for name, note in PER_HOST.items()]),
            *_table(
                "Caches of tables",
                ("container", "table", "kept current by"),
                [(name, table, note) for name, (table, note) in CACHES.items()],
            ),
        ]
    )


def _table(heading: str, columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in sorted(rows)]
    return [f"## {heading}", "", f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *lines, ""]

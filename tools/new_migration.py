"""`python -m tools.new_migration "Add a table of jobs"`: writes the skeleton of the next database migration.

The sentence becomes the docstring and, shortened, the file name. The new revision is added to KNOWN_REVISIONS.
"""

import re
import sys
from pathlib import Path

STORES = Path("packages/host/src/parlour/stores")
REVISIONS = re.compile(r"^KNOWN_REVISIONS = \((.*?)\)$", re.MULTILINE | re.DOTALL)
SLUG_WORDS = 5
SKELETON = '''"""{sentence}"""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "{revision}"
down_revision = "{previous}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Runs on SQLite and PostgreSQL. Fill new columns of existing rows here."""
'''


def create_migration(sentence: str, stores: Path = STORES) -> Path:
    """Writes the next migration and registers its revision. Returns the path of the new file."""
    sentence = sentence.strip().rstrip(".")
    words = re.findall(r"[a-z0-9]+", sentence.lower())
    if not words:
        raise ValueError('say in a sentence what the migration does, e.g. "Add a table of jobs"')
    module = stores / "migrate.py"
    source = module.read_text(encoding="utf-8")
    found = REVISIONS.search(source)
    if found is None:
        raise ValueError(f"{module} has no tuple KNOWN_REVISIONS")
    known = re.findall(r'"(\d+)"', found.group(1))
    revision = f"{int(known[-1]) + 1:04}"
    path = stores / "migrations" / "versions" / f"{revision}_{'_'.join(words[:SLUG_WORDS])}.py"
    path.write_text(SKELETON.format(sentence=f"{sentence}.", revision=revision, previous=known[-1]), encoding="utf-8")
    listed = ", ".join(f'"{each}"' for each in [*known, revision])
    module.write_text(source.replace(found.group(0), f"KNOWN_REVISIONS = ({listed})"), encoding="utf-8")
    return path


def main() -> int:
    try:
        path = create_migration(" ".join(sys.argv[1:]))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(
        f"{path}\nNext: name new tables and columns in core/store/tables.py, write upgrade(), run `make documents`\n"
        "(schema.sql), and see docs/maintainers/adding-features.md for backup, retention and deletion.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tools.new_migration expand "Add a table of jobs"`: writes the skeleton of the next database migration.

The phase says whether Hosts of the release before can use the database afterwards: `expand` if it adds tables, indexes
and columns with a default, `contract` otherwise. The sentence becomes the docstring and, shortened, the file name. The
new revision is added to KNOWN_REVISIONS.
"""

import re
import sys
from pathlib import Path

STORES = Path("packages/host/src/parlour/stores")
REVISIONS = re.compile(r"^KNOWN_REVISIONS = \((.*?)\)$", re.MULTILINE | re.DOTALL)
PHASES = ("expand", "contract")
SLUG_WORDS = 5
SKELETON = '''"""{sentence}"""

import sqlalchemy as sa
from alembic import op

from parlour.stores.columns import integer, text

revision = "{revision}"
down_revision = "{previous}"
branch_labels = None
depends_on = None
phase = "{phase}"


def upgrade() -> None:
    """Runs on SQLite and PostgreSQL. Fill new columns of existing rows here."""
'''


def create_migration(phase: str, sentence: str, stores: Path = STORES) -> Path:
    """Writes the next migration and registers its revision. Returns the path of the new file."""
    if phase not in PHASES:
        raise ValueError(
            "name the phase: PHASE=expand if Hosts of the release before can use the database afterwards (only new "
            "tables, indexes and columns with a default), PHASE=contract otherwise"
        )
    sentence = sentence.strip().rstrip(".")
    slug_words = re.findall(r"[a-z0-9]+", sentence.lower())
    if not slug_words:
        raise ValueError('say in a sentence what the migration does, e.g. "Add a table of jobs"')
    module = stores / "migrate.py"
    source = module.read_text(encoding="utf-8")
    match = REVISIONS.search(source)
    if match is None:
        raise ValueError(f"{module} has no tuple KNOWN_REVISIONS")
    revisions = re.findall(r'"(\d+)"', match.group(1))
    revision = f"{int(revisions[-1]) + 1:04}"
    path = stores / "migrations" / "versions" / f"{revision}_{'_'.join(slug_words[:SLUG_WORDS])}.py"
    path.write_text(
        SKELETON.format(sentence=f"{sentence}.", revision=revision, previous=revisions[-1], phase=phase),
        encoding="utf-8",
    )
    revision_list = ", ".join(f'"{each}"' for each in [*revisions, revision])
    module.write_text(source.replace(match.group(0), f"KNOWN_REVISIONS = ({revision_list})"), encoding="utf-8")
    return path


def main() -> int:
    try:
        path = create_migration(sys.argv[1] if sys.argv[1:] else "", " ".join(sys.argv[2:]))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(
        f"{path}\nNext: name new tables and columns in core/store/tables.py, write upgrade(), run `make documents`\n"
        "(schema.sql), and see docs/maintainers/how-to.md for backup, retention and deletion.\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tools.database_schema` writes the schema file."""

from parlour.stores.migrate import WHOLE

from .schema import migrated

WHOLE.write_text(migrated())

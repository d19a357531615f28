"""`python -m tools.database_schema` writes the schema file."""

from parlour.stores.migrate import SCHEMA_FILE

from .schema import migrated

SCHEMA_FILE.write_text(migrated())

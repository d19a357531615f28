"""Entry point of Alembic. On SQLite it uses the connection that `stores.migrate` opened; otherwise it writes a script.

Alembic has no connection to PostgreSQL, since the driver is asynchronous. So a migration becomes SQL there, and can't
read the tables. In both cases everything happens in one transaction.
"""

from alembic import context

connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(dialect_name="postgresql", transactional_ddl=False)  # the caller begins and commits
else:
    # Alembic assumes that SQLite has no transactional schema changes; migrate.py makes them transactional.
    context.configure(connection=connection, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()

"""Alembic's entry. On SQLite it runs on the connection that `stores.migrate` opened; otherwise it writes a script.

There is no connection that Alembic could use to PostgreSQL, since the driver is asynchronous; so a migration there is
the SQL it comes to, and can't look at what is in the tables. Either way all of it happens in one transaction.
"""

from alembic import context

connection = context.config.attributes.get("connection")
if connection is None:
    context.configure(dialect_name="postgresql", transactional_ddl=False)  # whoever runs the script begins and commits
else:
    # Alembic would not trust SQLite with schema changes in a transaction; migrate.py sees to it that they are.
    context.configure(connection=connection, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()

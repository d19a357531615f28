"""Alembic's entry. Runs migrations on the connection that `stores.migrate` opened, all in one transaction."""

from alembic import context

# Alembic would not trust SQLite with schema changes in a transaction; migrate.py sees to it that they are.
context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()

"""The journal on PostgreSQL: one writing connection, a few reading ones. Needs asyncpg, the extra `postgres`."""

from .journal import PostgresJournal

__all__ = ["PostgresJournal"]

"""Identities and permissions: users, API keys, sessions, audit, and the grant that is fixed before a run."""

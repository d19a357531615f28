"""The HTTP interface: one folder per domain, with endpoints and schemas. Depends on the core, but on no database and no
plugin process."""

"""The HTTP door: one folder per domain, endpoints and schemas. Knows the core, no database and no plugin process."""

"""Platform actions that runs request: executed, put before a person, or refused."""

"""Messages that people see grow, by edits or where the platform itself streams."""

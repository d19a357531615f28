"""From an owed event to a finished run."""

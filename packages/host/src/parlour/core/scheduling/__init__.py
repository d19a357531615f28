"""Events that time brings: by a calendar or every so often, exactly once each."""

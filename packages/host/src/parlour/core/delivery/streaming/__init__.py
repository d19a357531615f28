"""Messages that are updated while the run writes them, by edits or by native streaming."""

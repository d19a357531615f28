"""Which handler takes an event."""

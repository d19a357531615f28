"""From an agent's message to what one platform shows: pure functions, blind to rows, bots and time."""

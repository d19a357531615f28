"""From a result to what people see: live frames, outbox rows, sends, and honest notices."""

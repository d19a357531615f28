"""Routes that hand events to an address on the network: signed, durable, tried again, and what the answer may do."""

"""The Hosts that share a database: what they own, and moves of parts between them."""

"""What the Host keeps: events, transcript, ledger, outbox, state."""

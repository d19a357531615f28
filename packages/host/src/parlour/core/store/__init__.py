"""Reads and writes the tables of the Host: events, inbox, transcript, ledger, outbox, artifacts and state."""

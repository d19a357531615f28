"""Stores what the Host keeps: the databases behind the journal with their migrations, and artifacts."""

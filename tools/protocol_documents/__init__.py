"""Writes what `docs/protocol` holds, from the entities themselves. No part of what is shipped."""

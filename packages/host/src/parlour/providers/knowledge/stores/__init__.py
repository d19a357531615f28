"""Vector stores besides the builtin one; each client library is an extra that is imported on first use."""

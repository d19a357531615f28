"""Chat platforms as the core sees them: the adapter port, manifests, and conversion of native events."""

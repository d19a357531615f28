"""The domain. Imports the protocol's entities and itself, nothing else."""

"""The domain of the Host. It imports the protocol's entities and itself, nothing else."""

"""What the fake Host serves, one module per namespace: scripted, kept in memory, recorded."""

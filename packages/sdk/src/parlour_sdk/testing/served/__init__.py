"""The services of the fake Host, one module per namespace: scripted, kept in memory, recorded."""

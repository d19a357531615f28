"""The decision trail of an event: why it was answered so, late, twice or not at all. Reads facts; decides nothing."""

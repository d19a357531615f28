"""Short sentences that the Host says to people, in every language that it knows: one data file per language."""

"""Rules that the Host and the fake Host of tests apply alike. They are pure: they decide, and their callers act."""

"""Actions on platforms that runs ask for: what may be done at once, what a person has to allow, and what never."""

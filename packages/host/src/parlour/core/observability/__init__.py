"""Live events, metrics, statistics and explanations, derived from committed units. Changes nothing."""

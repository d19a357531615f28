"""Looks at everything a Host stands on and says what is wrong and what to do. Changes nothing."""

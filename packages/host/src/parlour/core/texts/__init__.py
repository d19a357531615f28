"""The Host's own texts in every language, one data file per language."""

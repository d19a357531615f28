"""Answers with applications of Ant Tbox."""

"""How services want to be asked and what they answer: pure builders and parsers, one module per dialect."""

"""An agent that answers with a model of the Host: its settings, its prompt and the start of a turn."""

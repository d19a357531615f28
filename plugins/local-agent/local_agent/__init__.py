"""An agent that answers with a model of the Host. `turn` is its main loop; the other modules are its parts."""

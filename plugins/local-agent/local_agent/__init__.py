"""Answers by a model of the Host. `turn` is the loop; each of the other modules is one of the parts it is made of."""

"""How something that happened enters the Host."""

"""OneBot 11: reaches QQ through NapCat, Lagrange and others, over a WebSocket in either direction."""

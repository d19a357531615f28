"""IRC: channels and private messages over one connection, with SASL and IRCv3 where a server has them."""

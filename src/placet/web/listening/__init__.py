"""Where requests come in: a port on loopback, and the Unix socket that looks who is at the other end."""

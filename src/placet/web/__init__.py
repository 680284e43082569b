"""The page and its API: wire, stream, the page's key, the socket of the command line."""

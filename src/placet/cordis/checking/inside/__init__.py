"""The program of the confined check. Its modules run alone in a confined interpreter, never in the server."""

"""One folder per outside system. An empty room until that work begins."""

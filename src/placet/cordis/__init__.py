"""Plugins that the agent writes. An empty room until that work begins."""

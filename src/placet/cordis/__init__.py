"""Cordis: plugins that the agent writes, and the consent of a person to those that enter the page."""

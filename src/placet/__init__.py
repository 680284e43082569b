"""placet: a concrete human decision behind every action of an AI agent that reaches the user's environment."""

__version__ = "0.1.0"

"""The session log: append facts, fold state, never store what the log can tell."""

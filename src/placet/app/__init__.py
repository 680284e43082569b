"""Configuration and composition: the only place that knows every room."""

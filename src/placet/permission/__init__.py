"""Presets and escalation: the only place where the two knobs meet."""

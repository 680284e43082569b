"""Every type of event that a log may hold: its fields, what they can hold, its key, its meaning."""

from .table import CATALOGUE, MODEL_VISIBLE, EventType, known, lacks, misfits

__all__ = ["CATALOGUE", "MODEL_VISIBLE", "EventType", "known", "lacks", "misfits"]

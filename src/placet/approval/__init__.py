"""The ask: one question, four outcomes, one conditional append that settles it."""

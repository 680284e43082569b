"""Models behind one small port; the vendors' libraries live here only."""

"""What the page offers to client halves; the page's code is tested against the catalogue that lies here."""

"""One file per domain of the API."""

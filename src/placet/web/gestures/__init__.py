"""What people do, from the request to the log and back to what their screen shows."""

"""Who may speak to placet: the page's key, the link, the checks on every request, the peer at the other end."""

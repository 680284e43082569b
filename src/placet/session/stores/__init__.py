"""Where logs live. Each store keeps the one contract of `placet.session.store`."""

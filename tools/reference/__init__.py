"""The pages of docs/reference that are made from the code: what they say is what runs."""

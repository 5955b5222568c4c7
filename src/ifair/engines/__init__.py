"""Who evaluates a sum over records: local blocks now, other places later."""

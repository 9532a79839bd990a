"""Rules of the normative types that a resolved topology must keep (chapters 5, 7 and 8)."""

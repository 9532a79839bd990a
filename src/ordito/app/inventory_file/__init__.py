"""The inventory: which hosts there are, how they are reached, and who makes which nodes."""

"""Which system leaves the fewest people unhappy."""

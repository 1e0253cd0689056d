"""`darc compare`: which system leaves the fewest people unhappy."""

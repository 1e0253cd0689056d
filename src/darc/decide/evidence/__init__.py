"""Few people, many judgements: what judges add, whom to ask next, and how sure a choice is."""

"""Numbers to a decision: statistics, rules, the lazy search, explanations and methods."""

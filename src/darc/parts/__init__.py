"""Generators, rewriters and scorers: the exchangeable parts of a run."""

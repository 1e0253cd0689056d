"""Harmlessness: what the embedded scorers make of people's choices between two answers."""

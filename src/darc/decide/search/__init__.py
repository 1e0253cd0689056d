"""Searches that decide without asking for every sample."""

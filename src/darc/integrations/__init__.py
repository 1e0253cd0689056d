"""Adapters to other people's frameworks: one small file each, imported by its own name."""

"""From files to decisions."""

"""What the default rule assumes and learns about ratings."""

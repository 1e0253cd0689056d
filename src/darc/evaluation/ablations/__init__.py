"""What moves when a knob moves: tidy frames for figures."""

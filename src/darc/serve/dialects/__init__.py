"""Other APIs than chat completions, translated to them and back."""

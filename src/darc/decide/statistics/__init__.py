"""Numbers only: arrays in, arrays or plain types out."""

"""An OpenAI-compatible service that answers with DARC's choice instead of the first sample."""

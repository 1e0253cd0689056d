"""`darc diagnose`: whether the disagreement of raters is signal, and whose it is."""

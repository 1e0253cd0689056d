"""`darc diagnose --panel`: how many voices a panel has, and whether it may stand in for people."""

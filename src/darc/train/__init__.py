"""Training: policies by cDPO and rDPO, and the model of atypical answers that `caution` needs.

Nothing here is needed to choose. torch, peft and TRL are imported by the functions that use them.
"""

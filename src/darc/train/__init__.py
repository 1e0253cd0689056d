"""Training: policies by cDPO and rDPO, preference heads, and the model that `caution` needs.

Nothing here is needed to choose. torch, peft and TRL are imported by the functions that use them.
"""

"""Every selection rule; importing this package registers them by name."""

from darc.rules.auto import auto
from darc.rules.borda import borda
from darc.rules.caution import caution
from darc.rules.cvar import cvar
from darc.rules.entropic import entropic
from darc.rules.epsilon import epsilon
from darc.rules.hedgetune import hedgetune
from darc.rules.lcb import lcb
from darc.rules.leximin import leximin
from darc.rules.mbr import mbr
from darc.rules.mc_dropout import mc_dropout
from darc.rules.mean import mean
from darc.rules.nash import nash
from darc.rules.penalty import penalty
from darc.rules.pessimism import pessimism
from darc.rules.poisson import poisson
from darc.rules.rbon import rbon
from darc.rules.soft import soft
from darc.rules.tau import tau
from darc.rules.uwo import uwo
from darc.rules.veto import veto
from darc.rules.worst import worst

__all__ = [
    "auto",
    "borda",
    "caution",
    "cvar",
    "entropic",
    "epsilon",
    "hedgetune",
    "lcb",
    "leximin",
    "mbr",
    "mc_dropout",
    "mean",
    "nash",
    "penalty",
    "pessimism",
    "poisson",
    "rbon",
    "soft",
    "tau",
    "uwo",
    "veto",
    "worst",
]

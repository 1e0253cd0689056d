"""Every selection rule; importing this package registers them by name."""

from darc.rules.auto import auto
from darc.rules.caution import caution
from darc.rules.cvar import cvar
from darc.rules.entropic import entropic
from darc.rules.epsilon import epsilon
from darc.rules.hedgetune import hedgetune
from darc.rules.lcb import lcb
from darc.rules.mbr import mbr
from darc.rules.mc_dropout import mc_dropout
from darc.rules.mean import mean
from darc.rules.penalty import penalty
from darc.rules.poisson import poisson
from darc.rules.rbon import rbon
from darc.rules.soft import soft
from darc.rules.tau import tau
from darc.rules.uwo import uwo
from darc.rules.worst import worst

__all__ = [
    "auto",
    "caution",
    "cvar",
    "entropic",
    "epsilon",
    "hedgetune",
    "lcb",
    "mbr",
    "mc_dropout",
    "mean",
    "penalty",
    "poisson",
    "rbon",
    "soft",
    "tau",
    "uwo",
    "worst",
]

"""Whether the disagreement of raters is signal, and whose it is."""

from darc.evaluation.diagnosis.diagnose import Diagnosis, diagnose
from darc.evaluation.diagnosis.words import Words, words

__all__ = ["Diagnosis", "Words", "diagnose", "words"]

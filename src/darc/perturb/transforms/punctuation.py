"""Apostrophes, dashes and serial commas in their other form."""

import re

from darc.perturb.drawing import Draws
from darc.perturb.transforms.occurs import occurring
from darc.perturb.transforms.transform import transform

_STRAIGHT = re.compile(r"(?<=\w)'(?=\w)")
_CURLY = re.compile(r"(?<=\w)\u2019(?=\w)")
_EM = re.compile(r"(?<=[\w)*])[ ]?—[ ]?(?=[\w(*])")
_SPACED = re.compile(r"(?<=[\w)*]) (?:\u2013|--?) (?=[A-Za-z(*])")
_ONE = r"[\w'\u2019-]{1,30}"
_ONE_OR_TWO = rf"{_ONE}(?: {_ONE})?"
_SERIAL = re.compile(rf"(?<=, )({_ONE_OR_TWO}), (and|or) (?={_ONE_OR_TWO}[.;!?\n])")
_PLAIN_LIST = re.compile(rf"({_ONE}, {_ONE}, {_ONE}) (and|or) (?={_ONE}[.;!?\n])")

_serial, _plain_list = occurring(_SERIAL), occurring(_PLAIN_LIST)


@transform("apostrophes")
def apostrophes(text: str, draws: Draws) -> str:
    """Straight apostrophes curled, or curly ones straightened."""
    if "\u2019" in text and _CURLY.search(text):
        return _CURLY.sub("'", text)
    return _STRAIGHT.sub("\u2019", text) if "'" in text else text


@transform("dashes")
def dashes(text: str, draws: Draws) -> str:
    """An em dash as a spaced en dash, or a spaced dash as an em dash."""
    if "—" in text:
        return _EM.sub(" \u2013 ", text)
    return _SPACED.sub("—", text) if " -" in text or " \u2013" in text else text


@transform("serial comma")
def serial_comma(text: str, draws: Draws) -> str:
    """The comma before the last of several short items dropped; put in after three plain words."""
    if _serial(text) and _SERIAL.search(text):
        return _SERIAL.sub(r"\1 \2 ", text)
    return _PLAIN_LIST.sub(r"\1, \2 ", text) if _plain_list(text) else text

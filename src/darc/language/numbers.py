"""Amounts, units, currencies, months and weekdays as they are written."""

from dataclasses import dataclass

from darc.language.phrases import read_rows

_WORDS = [(kind, value, words.split()) for kind, value, words in read_rows("amounts.tsv")]


def _values(kind: str) -> dict[str, str]:
    return {word: value for each, value, words in _WORDS if each == kind for word in words}


def _counted(kind: str, step: int = 1) -> dict[str, int]:
    ((first, words),) = ((int(value), words) for each, value, words in _WORDS if each == kind)
    return {word: step * number for number, word in enumerate(words, first)}


ONES, TENS, ORDINALS = _counted("ones"), _counted("tens", 10), _counted("ordinals")
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
UNITS, WEEKDAYS, CURRENCIES = _values("unit"), _values("weekday"), _values("currency")
MONTHS = {word: int(number) for word, number in _values("month").items()}


@dataclass(frozen=True)
class Amount:
    """A number, its unit or currency ("" without), and the tokens it was read from."""

    value: str
    unit: str
    currency: str
    start: int
    end: int


def amounts(words: list[str]) -> list[Amount]:
    """Every number among lower-case tokens; a lone "one" is a pronoun and no number."""
    found: list[Amount] = []
    at = 0
    while at < len(words):
        value, after = _value(words, at)
        if value is None:
            at += 1
            continue
        currency = CURRENCIES.get(words[at - 1], "") if at and len(words[at - 1]) == 1 else ""
        start = at - 1 if currency else at
        unit = ""
        for word in words[after : after + 2]:
            known = CURRENCIES.get(word, "")
            if known and not currency:
                currency, after = known, after + 1
            elif word in UNITS and not currency:
                # "degrees celsius" is one unit in two words.
                unit, after = UNITS[word] if unit in ("", "degree") else unit, after + 1
            else:
                break
        if words[after : after + 2] == ["per", "cent"]:
            unit, after = "%", after + 2
        found.append(Amount(value, unit, currency, start, after))
        at = after
    return found


def _value(words: list[str], at: int) -> tuple[str | None, int]:
    word = words[at]
    if word[0].isdigit():
        plain = word.replace(",", "")
        number = float(plain) if plain.replace(".", "", 1).isdigit() else None
        after = at + 1
        if number is None:
            return plain, after
        ordinal = after < len(words) and words[after] in ("st", "nd", "rd", "th")
        decade = after < len(words) and words[after] == "s" and len(plain) == 4
        if ordinal or decade:
            return f"{number:g}" + ("th" if ordinal else "s"), after + 1
        while after < len(words) and words[after] in SCALES:
            number *= SCALES[words[after]]
            after += 1
        return f"{number:.12g}", after
    if word in ORDINALS:
        return f"{ORDINALS[word]}th", at + 1
    if word == "dozen":
        return "12", at + 1
    if word in ONES or word in TENS or (word in SCALES and at and words[at - 1] == "a"):
        return _spelt(words, at)
    return None, at


def _spelt(words: list[str], at: int) -> tuple[str | None, int]:
    total, current, after = 0, 0, at
    while after < len(words):
        word = words[after]
        if word in TENS:
            current += TENS[word]
        elif word in ONES:
            current += ONES[word]
        elif word in SCALES:
            current = max(current, 1) * SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
        else:
            break
        after += 1
    value = total + current
    alone = after == at + 1 and words[at] == "one"
    if alone and not (after < len(words) and words[after] in UNITS):
        return None, at
    return str(value), after

"""Numbers in a text, with their units and currencies, in one notation."""

from dataclasses import dataclass

from darc.language.data_files import read_rows

_ROWS = [(kind, value, words.split()) for kind, value, words in read_rows("amounts.tsv")]


def _read_values(kind: str) -> dict[str, str]:
    """The value of each word of one kind."""
    values: dict[str, str] = {}
    for row_kind, value, words in _ROWS:
        if row_kind == kind:
            values.update(dict.fromkeys(words, value))
    return values


def _read_numbers(kind: str, step: int = 1) -> dict[str, int]:
    """The number of each word of the one row of a kind, which counts up from the row's value."""
    ((_, first, words),) = [row for row in _ROWS if row[0] == kind]
    return {word: step * number for number, word in enumerate(words, int(first))}


_SMALL_NUMBERS = {**_read_numbers("ones"), **_read_numbers("tens", 10)}
_ORDINALS = _read_numbers("ordinals")
_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
#: Words for units, with the unit in one notation.
UNITS = _read_values("unit")
#: Signs and words for currencies, with the currency in one notation.
CURRENCIES = _read_values("currency")
#: Names of weekdays, with the weekday in one notation.
WEEKDAYS = _read_values("weekday")
#: Names of months, with the month's number from 1 to 12.
MONTHS = {word: int(number) for word, number in _read_values("month").items()}


@dataclass(frozen=True)
class Amount:
    """A number in a text."""

    value: str
    #: The unit, or "".
    unit: str
    #: The currency, or "".
    currency: str
    #: The number's tokens are those from `start` up to, but without, `end`.
    start: int
    end: int


def find_amounts(words: list[str]) -> list[Amount]:
    """Find every number among tokens.

    Args:
        words: The tokens of a text in lower case.

    Returns:
        The amounts in order. A lone "one" is a pronoun and not a number.
    """
    amounts: list[Amount] = []
    position = 0
    while position < len(words):
        value, end = _read_number(words, position)
        if value is None:
            position += 1
            continue
        amount = _with_unit(words, value, position, end)
        amounts.append(amount)
        position = amount.end
    return amounts


def _with_unit(words: list[str], value: str, start: int, end: int) -> Amount:
    """The amount of a number from `start` to `end`, with what stands directly around it."""
    currency = ""
    if start and len(words[start - 1]) == 1:
        currency = CURRENCIES.get(words[start - 1], "")
    if currency:
        start -= 1
    unit = ""
    for word in words[end : end + 2]:
        if currency:
            break
        if word in CURRENCIES:
            currency = CURRENCIES[word]
        elif word in UNITS:
            # "degrees celsius" is one unit in two words.
            if unit in ("", "degree"):
                unit = UNITS[word]
        else:
            break
        end += 1
    if words[end : end + 2] == ["per", "cent"]:
        unit = "%"
        end += 2
    return Amount(value=value, unit=unit, currency=currency, start=start, end=end)


def _read_number(words: list[str], start: int) -> tuple[str | None, int]:
    """The number that begins at a token, or None, and the position after it."""
    word = words[start]
    if word[0].isdigit():
        return _read_digits(words, start)
    if word in _ORDINALS:
        return f"{_ORDINALS[word]}th", start + 1
    if word == "dozen":
        return "12", start + 1
    if word in _SMALL_NUMBERS or (word in _SCALES and start and words[start - 1] == "a"):
        return _read_spelled(words, start)
    return None, start


def _read_digits(words: list[str], start: int) -> tuple[str, int]:
    """The number that is written in digits at a token, and the position after it."""
    end = start + 1
    digits = words[start].replace(",", "")
    if not digits.replace(".", "", 1).isdigit():
        return digits, end
    number = float(digits)
    follower = words[end] if end < len(words) else ""
    if follower in ("st", "nd", "rd", "th"):
        return f"{number:g}th", end + 1
    if follower == "s" and len(digits) == 4:
        return f"{number:g}s", end + 1
    while end < len(words) and words[end] in _SCALES:
        number *= _SCALES[words[end]]
        end += 1
    return f"{number:.12g}", end


def _read_spelled(words: list[str], start: int) -> tuple[str | None, int]:
    """The number that is written in words at a token, or None, and the position after it."""
    total = 0
    below_thousand = 0
    end = start
    while end < len(words):
        word = words[end]
        if word in _SMALL_NUMBERS:
            below_thousand += _SMALL_NUMBERS[word]
        elif word in _SCALES:
            below_thousand = max(below_thousand, 1) * _SCALES[word]
            if word != "hundred":
                total += below_thousand
                below_thousand = 0
        else:
            break
        end += 1
    is_lone_one = end == start + 1 and words[start] == "one"
    has_unit = end < len(words) and words[end] in UNITS
    if is_lone_one and not has_unit:
        return None, start
    return str(total + below_thousand), end

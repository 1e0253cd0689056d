"""Amounts, units, currencies, months and weekdays as they are written."""

from dataclasses import dataclass

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ONES = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 2)}
_UNIT_NAMES = {
    "%": "percent pct",
    "km": "kilometer kilometers kilometre kilometres kms",
    "m": "meter meters metre metres",
    "cm": "centimeter centimeters centimetre centimetres",
    "mm": "millimeter millimeters millimetre millimetres",
    "mile": "miles mi",
    "foot": "feet ft",
    "inch": "inches",
    "yard": "yards yd",
    "kg": "kilogram kilograms kilo kilos kgs",
    "g": "gram grams gr",
    "mg": "milligram milligrams",
    "pound": "pounds lb lbs",
    "ounce": "ounces oz",
    "ton": "tons tonne tonnes",
    "l": "liter liters litre litres",
    "ml": "milliliter milliliters millilitre millilitres",
    "cup": "cups",
    "tbsp": "tablespoon tablespoons",
    "tsp": "teaspoon teaspoons",
    "gallon": "gallons",
    "second": "seconds sec secs s",
    "minute": "minutes min mins",
    "hour": "hours hr hrs h",
    "day": "days",
    "week": "weeks",
    "month": "months",
    "year": "years yr yrs",
    "decade": "decades",
    "century": "centuries",
    "degree": "degrees °",
    "°c": "celsius",
    "°f": "fahrenheit",
    "kb": "kilobytes kilobyte",
    "mb": "megabytes megabyte",
    "gb": "gigabytes gigabyte",
    "tb": "terabytes terabyte",
    "w": "watt watts",
    "kw": "kilowatt kilowatts",
    "kwh": "",
    "v": "volt volts",
    "hz": "hertz",
    "mph": "",
    "kmh": "",
    "calorie": "calories kcal",
    "acre": "acres",
    "am": "a.m.",
    "pm": "p.m.",
    "bc": "bce",
    "ad": "ce",
}
UNITS = {word: unit for unit, words in _UNIT_NAMES.items() for word in (unit, *words.split())}
_MONTH_NAMES = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sept sep",
    "october oct",
    "november nov",
    "december dec",
)
MONTHS = {word: i for i, words in enumerate(_MONTH_NAMES, 1) for word in words.split()}
WEEKDAYS = {
    word: words.split()[0]
    for words in (
        "monday mon",
        "tuesday tues",
        "wednesday weds",
        "thursday thurs",
        "friday fri",
        "saturday",
        "sunday",
    )
    for word in words.split()
}
CURRENCIES = {
    "$": "$",
    "dollar": "$",
    "dollars": "$",
    "usd": "$",
    "€": "€",
    "euro": "€",
    "euros": "€",
    "eur": "€",
    "£": "£",
    "gbp": "£",
    "sterling": "£",
    "¥": "¥",
    "yen": "¥",
    "₹": "₹",
    "rupee": "₹",
    "rupees": "₹",
    "cent": "c",
    "cents": "c",
    "francs": "fr",
    "pesos": "peso",
}


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

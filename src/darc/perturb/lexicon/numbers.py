"""Number words, units, months and currencies in one spelling each."""

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

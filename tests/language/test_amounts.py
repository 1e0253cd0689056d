from darc.language.amounts import find_amounts


def test_amounts_in_one_notation() -> None:
    text = "two hundred and 1,000 then 3 million dollars and 3 rd of twenty five kg"
    amounts = [(a.value, a.unit, a.currency) for a in find_amounts(text.split())]
    assert amounts == [
        ("200", "", ""),
        ("1000", "", ""),
        ("3000000", "", "$"),
        ("3th", "", ""),
        ("25", "kg", ""),
    ]
    assert find_amounts(["this", "one", "here"]) == []

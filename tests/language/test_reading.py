from darc.language.reading import amounts


def test_amounts_in_one_notation() -> None:
    text = "two hundred and 1,000 then 3 million dollars and 3 rd of twenty five kg"
    found = [(a.value, a.unit, a.currency) for a in amounts(text.split())]
    assert found == [
        ("200", "", ""),
        ("1000", "", ""),
        ("3000000", "", "$"),
        ("3th", "", ""),
        ("25", "kg", ""),
    ]
    assert amounts(["this", "one", "here"]) == []

import darc.tables


def test_public_names_are_complete_and_sorted() -> None:
    assert darc.tables.__all__ == sorted(darc.tables.__all__)
    assert set(darc.tables.__all__) == {"Batch", "RatingTable", "read_ratings"}

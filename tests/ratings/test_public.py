import darc.ratings


def test_public_names_are_complete_and_sorted() -> None:
    assert darc.ratings.__all__ == sorted(darc.ratings.__all__)
    assert set(darc.ratings.__all__) == {"RatingTable", "Ratings", "read_ratings"}

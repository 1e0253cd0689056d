from darc.web.rate_limiter import RateLimiter


def test_bucket_empties_and_fills_again() -> None:
    now = 0.0
    limiter = RateLimiter(lambda: now)
    assert [limiter.count_request("a", 2) for _ in range(3)] == [0, 0, 30]
    assert limiter.count_request("b", 2) == 0
    now = 30.0
    assert limiter.count_request("a", 2) == 0
    assert limiter.count_request("a", 2) > 0
    assert limiter.count_request("a", 0) == 0

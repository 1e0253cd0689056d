from collections.abc import Callable

import pytest

pytest.importorskip("starlette")

from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.middleware import Hosts, authority_of
from darc.web.problems import Problem

LOOPBACK = ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.0.0.1:9", "[::1]:8000"]
FOREIGN = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"]
BROKEN = ["", "a b", "x/../../etc/secret.html?", "user@localhost", "localhost:80:80", "[::1", "a,b"]


def refusal(check: Callable[[Headers], None], headers: Headers) -> Problem | None:
    try:
        check(headers)
    except Problem as problem:
        return problem
    return None


def allows(hosts: Hosts, name: str) -> bool:
    found = refusal(hosts.check_name, Headers({"host": name}))
    assert found is None or (found.status == 421 and "--allowed-host" in found.message)
    return found is None


def own(hosts: Hosts, **given: str) -> bool:
    headers = {name.replace("_", "-"): value for name, value in given.items()}
    found = refusal(hosts.check_site, Headers({"host": "localhost:8000", **headers}))
    assert found is None or (found.status, found.code) == (403, "foreign_origin")
    return found is None


def test_a_service_on_the_loopback_goes_by_its_names_only() -> None:
    assert all(allows(Hosts(), name) for name in LOOPBACK)
    assert not any(allows(Hosts(), name) for name in [*FOREIGN, *BROKEN, "192.168.1.5", "8.8.8.8"])


def test_the_bound_address_and_given_names_are_names() -> None:
    hosts = Hosts("192.168.1.5", ["Gateway.example.org", "other.example:8443"])
    for name in ("192.168.1.5:8000", "gateway.example.org", "other.example", "localhost"):
        assert allows(hosts, name), name
    assert not allows(hosts, "192.168.1.6")
    assert allows(Hosts("box.lan"), "box.lan:8000")
    assert allows(Hosts("2001:db8::1"), "[2001:db8::1]:8000")


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", "[::]"])
def test_on_every_address_any_address_is_a_name_and_no_other(bound: str) -> None:
    hosts = Hosts(bound)
    assert all(allows(hosts, name) for name in [*LOOPBACK, "10.0.0.7:8000", "[2001:db8::1]"])
    assert not any(allows(hosts, name) for name in [*FOREIGN, *BROKEN])


def test_no_host_is_a_program_and_two_are_wrong() -> None:
    Hosts().check_name(Headers({}))
    with pytest.raises(Problem, match="several Host"):
        Hosts().check_name(Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")]))


@pytest.mark.parametrize("name", ["https://x.example", "x.example/", "", "a b", "*"])
def test_what_is_no_name_cannot_be_given(name: str) -> None:
    with pytest.raises(InputError, match="--allowed-host"):
        Hosts(given=[name])


def test_programs_and_own_pages_may_ask() -> None:
    hosts = Hosts(given=["darc.example.org", "odd.example:8443"])
    assert own(hosts)
    assert own(hosts, sec_fetch_site="none")
    assert own(hosts, origin="http://localhost:8000", sec_fetch_site="same-origin")
    assert own(hosts, host="localhost", origin="http://localhost:80")
    assert own(hosts, origin="null", sec_fetch_site="same-origin"), "a proxy may hide the referrer"
    for origin in ("https://darc.example.org", "https://odd.example:8443"):
        assert own(hosts, origin=origin, sec_fetch_site="same-origin")
        assert own(hosts, origin=origin, host=origin.partition("//")[2])


def test_pages_of_other_sites_may_not() -> None:
    hosts = Hosts(given=["darc.example.org"])
    for origin in (
        "http://evil.example", "https://localhost:8000.evil.example", "null", "", "file://",
        "http://localhost:3000", "http://127.0.0.1:8000", "https://darc.example.org:8443",
        "app://localhost:8000", "http://localhost:8000/x",
    ):  # fmt: skip
        assert not own(hosts, origin=origin), origin
    for site in ("cross-site", "same-site", "x"):
        assert not own(hosts, sec_fetch_site=site)
        assert not own(hosts, sec_fetch_site=site, origin="http://localhost:8000")


def test_authority_of_a_url() -> None:
    assert authority_of("https://a:b@study.example.org:8443/rate") == "study.example.org:8443"
    with pytest.raises(InputError, match="--url"):
        authority_of("study.example.org")

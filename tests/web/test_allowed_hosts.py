from collections.abc import Callable

import pytest

pytest.importorskip("starlette")

from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.allowed_hosts import AllowedHosts, host_of_url
from darc.web.middleware.host import check_host
from darc.web.middleware.origin import check_origin
from darc.web.problems import Problem

LOOPBACK = ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.0.0.1:9", "[::1]:8000"]
FOREIGN = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"]
BROKEN = ["", "a b", "x/../../etc/secret.html?", "user@localhost", "localhost:80:80", "[::1", "a,b"]


def refusal(
    check: Callable[[AllowedHosts, Headers], None], hosts: AllowedHosts, headers: dict[str, str]
) -> Problem | None:
    try:
        check(hosts, Headers(headers))
    except Problem as problem:
        return problem
    return None


def allows(hosts: AllowedHosts, name: str) -> bool:
    problem = refusal(check_host, hosts, {"host": name})
    assert problem is None or (problem.status == 421 and "--allowed-host" in problem.message)
    return problem is None


def is_own(hosts: AllowedHosts, **named: str) -> bool:
    headers = {name.replace("_", "-"): value for name, value in named.items()}
    problem = refusal(check_origin, hosts, {"host": "localhost:8000", **headers})
    assert problem is None or (problem.status, problem.code) == (403, "foreign_origin")
    return problem is None


def test_a_service_on_the_loopback_goes_by_its_names_only() -> None:
    assert all(allows(AllowedHosts(), name) for name in LOOPBACK)
    assert not any(
        allows(AllowedHosts(), name) for name in [*FOREIGN, *BROKEN, "192.168.1.5", "8.8.8.8"]
    )


def test_the_bound_address_and_given_names_are_names() -> None:
    hosts = AllowedHosts("192.168.1.5", ["Gateway.example.org", "other.example:8443"])
    for name in ("192.168.1.5:8000", "gateway.example.org", "other.example", "localhost"):
        assert allows(hosts, name), name
    assert not allows(hosts, "192.168.1.6")
    assert allows(AllowedHosts("box.lan"), "box.lan:8000")
    assert allows(AllowedHosts("2001:db8::1"), "[2001:db8::1]:8000")


@pytest.mark.parametrize("bound", ["0.0.0.0", "::", "[::]"])
def test_on_every_address_any_address_is_a_name_and_no_other(bound: str) -> None:
    hosts = AllowedHosts(bound)
    assert all(allows(hosts, name) for name in [*LOOPBACK, "10.0.0.7:8000", "[2001:db8::1]"])
    assert not any(allows(hosts, name) for name in [*FOREIGN, *BROKEN])


def test_no_host_is_a_program_and_two_are_wrong() -> None:
    check_host(AllowedHosts(), Headers({}))
    with pytest.raises(Problem, match="several Host"):
        check_host(
            AllowedHosts(), Headers(raw=[(b"host", b"localhost"), (b"host", b"evil.example")])
        )


@pytest.mark.parametrize("name", ["https://x.example", "x.example/", "", "a b", "*"])
def test_what_is_no_name_cannot_be_given(name: str) -> None:
    with pytest.raises(InputError, match="--allowed-host"):
        AllowedHosts(names=[name])


def test_programs_and_own_pages_may_ask() -> None:
    hosts = AllowedHosts(names=["darc.example.org", "odd.example:8443"])
    assert is_own(hosts)
    assert is_own(hosts, sec_fetch_site="none")
    assert is_own(hosts, origin="http://localhost:8000", sec_fetch_site="same-origin")
    assert is_own(hosts, host="localhost", origin="http://localhost:80")
    assert is_own(hosts, origin="null", sec_fetch_site="same-origin"), (
        "a proxy may hide the referrer"
    )
    for origin in ("https://darc.example.org", "https://odd.example:8443"):
        assert is_own(hosts, origin=origin, sec_fetch_site="same-origin")
        assert is_own(hosts, origin=origin, host=origin.partition("//")[2])


def test_pages_of_other_sites_may_not() -> None:
    hosts = AllowedHosts(names=["darc.example.org"])
    for origin in (
        "http://evil.example", "https://localhost:8000.evil.example", "null", "", "file://",
        "http://localhost:3000", "http://127.0.0.1:8000", "https://darc.example.org:8443",
        "app://localhost:8000", "http://localhost:8000/x",
    ):  # fmt: skip
        assert not is_own(hosts, origin=origin), origin
    for site in ("cross-site", "same-site", "x"):
        assert not is_own(hosts, sec_fetch_site=site)
        assert not is_own(hosts, sec_fetch_site=site, origin="http://localhost:8000")


def test_host_of_a_url() -> None:
    assert host_of_url("https://a:b@study.example.org:8443/rate") == "study.example.org:8443"
    with pytest.raises(InputError, match="--url"):
        host_of_url("study.example.org")

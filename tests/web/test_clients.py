import asyncio
import json
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from darc.errors import InputError
from darc.web.clients import Gate, Keys, Rates, digest_of, make_key, read_keys, trusted_proxies
from darc.web.problems import Problem


def test_bucket_empties_and_fills_again() -> None:
    now = 0.0
    rates = Rates(lambda: now)
    assert [rates.wait("a", 2) for _ in range(3)] == [0, 0, 30]
    assert rates.wait("b", 2) == 0
    now = 30.0
    assert rates.wait("a", 2) == 0
    assert rates.wait("a", 2) > 0
    assert rates.wait("a", 0) == 0


def test_gate_bounds_what_runs_and_what_waits() -> None:
    async def main() -> None:
        gate = Gate(1, 1)
        order: list[str] = []

        async def work(name: str) -> None:
            async with gate:
                order.append(name)
                await asyncio.sleep(0.01)

        first, second = asyncio.create_task(work("a")), asyncio.create_task(work("b"))
        await asyncio.sleep(0)
        with pytest.raises(Problem) as caught:
            async with gate:
                pass
        assert caught.value.status == 429
        assert caught.value.headers["Retry-After"] == "1"
        await asyncio.gather(first, second)
        assert order == ["a", "b"]
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(main())


def test_gate_forgets_who_gives_up() -> None:
    async def main() -> None:
        gate = Gate(1, 1)
        async with gate:
            waiting = asyncio.create_task(gate.__aenter__())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            assert gate.waiting == 0
        async with gate:
            assert gate.running == 1

    asyncio.run(main())


PROXY = "127.0.0.1"
FAR, SPOOFED = "203.0.113.7", "198.51.100.9"


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        (PROXY, [], PROXY),
        (PROXY, [("x-forwarded-for", FAR)], FAR),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, {FAR}")], FAR),
        (PROXY, [("x-forwarded-for", SPOOFED), ("x-forwarded-for", FAR)], FAR),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, {FAR}, 10.1.2.3")], FAR),
        (PROXY, [("x-forwarded-for", "10.9.9.9, 10.1.2.3")], "10.9.9.9"),
        (PROXY, [("x-forwarded-for", f"{FAR}:4711")], FAR),
        (PROXY, [("x-forwarded-for", "unknown")], PROXY),
        (PROXY, [("x-forwarded-for", f"{SPOOFED}, unknown")], PROXY),
        (PROXY, [("x-forwarded-for", f"{SPOOFED},")], PROXY),
        (PROXY, [("forwarded", f"for={SPOOFED}, for={FAR};proto=https")], FAR),
        (PROXY, [("forwarded", f'for="{SPOOFED}, for={FAR}')], FAR),
        (PROXY, [("forwarded", 'proto=https;For="[2001:db8:1:2:3::4]:80"')], "2001:db8:1:2::/64"),
        (PROXY, [("forwarded", "for=_hidden")], PROXY),
        (PROXY, [("x-forwarded-for", FAR), ("forwarded", f"for={FAR}")], FAR),
        (PROXY, [("x-forwarded-for", FAR), ("forwarded", f"for={SPOOFED}")], PROXY),
        (PROXY, [("x-forwarded-for", "::ffff:203.0.113.7")], FAR),
        ("::ffff:127.0.0.1", [("x-forwarded-for", FAR)], FAR),
        ("192.0.2.1", [("x-forwarded-for", FAR)], "192.0.2.1"),
        ("192.0.2.1", [("forwarded", f"for={FAR}")], "192.0.2.1"),
        ("2001:db8:1:2::9", [("x-forwarded-for", FAR)], "2001:db8:1:2::/64"),
        ("fe80::1%eth0", [], "fe80::/64"),
        ("unknown", [("x-forwarded-for", FAR)], "unknown"),
    ],
)
def test_the_address_that_a_trusted_proxy_forwards(
    peer: str, headers: list[tuple[str, str]], expected: str
) -> None:
    raw = [(name.encode(), value.encode()) for name, value in headers]
    assert trusted_proxies(["127.0.0.1", "10.0.0.0/8"]).client(peer, Headers(raw=raw)) == expected
    if peer == PROXY:
        assert trusted_proxies([]).client(peer, Headers(raw=raw)) == PROXY


def test_a_proxy_is_an_address() -> None:
    assert len(trusted_proxies(["10.0.0.1/8", "::1"]).trusted) == 2
    with pytest.raises(InputError, match="is no address"):
        trusted_proxies(["proxy.example"])


def test_key_is_shown_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "keys.jsonl"
    token = make_key(path, "alice", rate=30)
    other = make_key(path, "bob")
    assert token != other
    text = path.read_text()
    assert token not in text
    assert path.stat().st_mode & 0o077 == 0
    keys = read_keys(path)
    found = keys.find(token)
    assert found is not None
    assert (found.name, found.rate) == ("alice", 30)
    assert keys.find(token + "x") is None
    assert keys.find("") is None


def test_taken_name_is_refused(tmp_path: Path) -> None:
    make_key(tmp_path / "keys", "alice")
    with pytest.raises(InputError, match="alice"):
        make_key(tmp_path / "keys", "alice")


@pytest.mark.parametrize("line", ["{}", "nothing", '{"name": "a", "sha256": "12"}', "[1]"])
def test_broken_file_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "keys"
    fine = json.dumps({"name": "a", "sha256": digest_of("x")})
    path.write_text(f"{fine}\n{line}\n")
    with pytest.raises(InputError, match="line 2"):
        read_keys(path)


def test_empty_and_missing_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path / "none")
    (tmp_path / "empty").touch()
    with pytest.raises(InputError, match="no keys"):
        read_keys(tmp_path / "empty")


def test_no_keys_find_nobody() -> None:
    assert Keys().find("x") is None

from typing import Any, cast

import pytest

pytest.importorskip("sqlalchemy")

from darc.cli.study_address import DEFAULT_ADDRESS, StudyAddress
from darc.errors import InputError
from darc.settings.study import LinkSettings


class StoreWithUrl:
    """Keeps an address as the database of a study does."""

    def __init__(self, url: str = "") -> None:
        self.url = url

    def row(self) -> dict[str, str]:
        return {"url": self.url}

    def keep_address(self, base: str) -> None:
        self.url = base


def address_of(store: StoreWithUrl) -> StudyAddress:
    return StudyAddress.of(cast("Any", store))


def test_a_new_study_has_the_usual_address() -> None:
    address = address_of(StoreWithUrl())
    assert address.base == DEFAULT_ADDRESS
    assert address.local_port == 8710
    assert not address.is_known


def test_a_url_replaces_origin_and_path_and_is_kept() -> None:
    store = StoreWithUrl("http://127.0.0.1:9000/old")
    address = address_of(store).changed(LinkSettings(url="https://study.example.org/"))
    assert address.keep(cast("Any", store)) == "https://study.example.org"
    assert store.url == "https://study.example.org"
    # A proxy has the port of https, so the pages are served on the usual one.
    assert address.local_port == 8710


def test_port_host_and_path_change_the_address_on_this_machine() -> None:
    address = address_of(StoreWithUrl())
    assert address.changed(LinkSettings(port=9000)).base == "http://127.0.0.1:9000"
    assert address.changed(LinkSettings(), host="::1").base == "http://[::1]:8710"
    assert address.changed(LinkSettings(), host="0.0.0.0").base == DEFAULT_ADDRESS
    assert address.changed(LinkSettings(root_path="/study/")).base == f"{DEFAULT_ADDRESS}/study"


def test_a_url_that_is_not_one_of_http_is_refused() -> None:
    with pytest.raises(InputError, match="ftp"):
        address_of(StoreWithUrl()).changed(LinkSettings(url="ftp://study.example.org"))

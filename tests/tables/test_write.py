import os
import sys
from pathlib import Path

import pytest

from darc.errors import InputError
from darc.files import atomic_path, atomic_writer


def test_the_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with atomic_writer(target) as stream:
        stream.write("é\r\n\n")
        assert not target.exists()
    assert target.read_bytes() == "é\r\n\n".encode()
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError])
def test_on_any_error_what_was_there_stays(tmp_path: Path, stop: type[BaseException]) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old", encoding="utf-8")

    def fail() -> None:
        with atomic_writer(str(target)) as stream:
            stream.write("new")
            raise stop

    with pytest.raises(stop):
        fail()
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder"), atomic_writer(tmp_path / "no" / "x.csv"):
        pass
    with pytest.raises(InputError, match="is a folder"), atomic_writer(tmp_path):
        pass


def test_the_suffix_is_kept_for_those_who_look_at_it(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "plot.png") as path:
        assert path.suffix == ".png"
        path.write_bytes(b"picture")
    assert (tmp_path / "plot.png").read_bytes() == b"picture"


@pytest.mark.skipif(sys.platform == "win32", reason="needs permissions and links")
def test_modes_and_links_survive(tmp_path: Path) -> None:
    target, link = tmp_path / "out.csv", tmp_path / "link.csv"
    target.touch()
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_writer(link) as stream:
        stream.write("new")
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") == "new"
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not Path(os.devnull).is_char_device(), reason="no such device")
def test_a_device_is_written_to_and_not_replaced() -> None:
    with atomic_writer(os.devnull) as stream:
        stream.write("gone")
    assert Path(os.devnull).is_char_device()

"""bench/corpus: the list is sound, and an archive cannot write outside its folder."""

import io
import tarfile
import zipfile

import pytest

from bench import corpus


def test_every_package_is_pinned_once() -> None:
    packages = corpus.packages()
    assert len({package.name for package in packages}) == len(packages)
    for package in packages:
        assert package.version
        assert package.form in ("sdist", "wheel")
        assert len(package.sha256) == 64 and set(package.sha256) <= set("0123456789abcdef")


def test_the_audited_families_are_there() -> None:
    families = {package.family for package in corpus.packages()}
    assert families == {"vision", "audio", "text", "graphs", "medical", "recsys", "rl", "trainers", "series", "lines"}


def sdist(path, **members):
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    return path


def test_the_one_folder_of_a_source_archive_is_dropped(tmp_path) -> None:
    archive = sdist(tmp_path / "p-1.tar.gz", **{"p-1/p/a.py": b"1\n2\n", "p-1/data.bin": b"", "p-1/setup.py": b"3\n"})
    corpus._unpack(archive, tmp_path / "out")
    files = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.*")}
    assert files == {"p/a.py", "setup.py", "pyproject.toml"}
    assert corpus.lines(tmp_path / "out") == 3


@pytest.mark.parametrize("name", ["p-1/../../evil.py", "p-1//evil/../../../evil.py"])
def test_a_source_archive_stays_inside(tmp_path, name) -> None:
    archive = sdist(tmp_path / "p-1.tar.gz", **{name: b"x"})
    with pytest.raises(corpus.CorpusError):
        corpus._unpack(archive, tmp_path / "out" / "deep")
    assert not list(tmp_path.rglob("evil.py"))


def test_a_wheel_stays_inside(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "p-1-py3-none-any.whl", "w") as archive:
        archive.writestr("../evil.py", "x")
    with pytest.raises(corpus.CorpusError):
        corpus._unpack(tmp_path / "p-1-py3-none-any.whl", tmp_path / "out" / "deep")
    assert not list(tmp_path.rglob("evil.py"))


def test_links_are_not_unpacked(tmp_path) -> None:
    with tarfile.open(tmp_path / "p-1.tar.gz", "w:gz") as archive:
        info = tarfile.TarInfo("p-1/link.py")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(corpus.CorpusError, match="no Python files"):
        corpus._unpack(tmp_path / "p-1.tar.gz", tmp_path / "out")

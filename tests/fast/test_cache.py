from __future__ import annotations

import errno
import json
import logging
import os
import stat
import threading
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import filelock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ms_compat import cache as cache_module
from ms_compat.cache import Cache
from ms_compat.errors import CacheWarning
from ms_compat.measurement import Answer, Measurement
from tests.standin import a_build, measured

if TYPE_CHECKING:
    from collections.abc import Callable

BUILD = a_build()
DIGESTS = {"holds_water": "d1", "floats": "d2"}


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path / "cache"))


@pytest.fixture
def file(cache: Cache) -> Path:
    """The cache's file, with one measurement in it."""
    cache.write(BUILD, DIGESTS, {"holds_water": measured(Answer.NO, steps=3)})
    return Path(cache.path(BUILD))


def found(cache: Cache) -> Measurement | None:
    return cache.read(BUILD).find("holds_water", "d1")


def change(file: Path, value: Any, *path: str) -> None:
    """Change one value in the file."""
    data = inner = json.loads(file.read_text())
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    file.write_text(json.dumps(data))


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)


def test_what_was_written_is_found_by_another_process(cache: Cache) -> None:
    measurement = measured(Answer.NO, "1.00 per step", steps=3)
    cache.write(BUILD, DIGESTS, {"holds_water": measurement})
    cached = Cache(cache.folder).read(BUILD)
    assert cached.find("holds_water", "d1") == measurement
    assert cached.find("floats", "d2") is None
    assert (len(cached), cached.notes) == (1, [])


def test_an_empty_cache_is_a_miss_without_a_word(cache: Cache) -> None:
    cached = cache.read(BUILD)
    assert (len(cached), cached.notes) == (0, [])
    assert not Path(cache.folder).exists()


def test_only_the_user_may_look_into_the_cache(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_measurements_are_added_to_those_that_are_there(cache: Cache, file: Path) -> None:
    cache.write(BUILD, DIGESTS, {"floats": measured()})
    assert len(cache.read(BUILD)) == 2


def test_the_measurements_of_a_former_build_in_the_same_place_are_dropped(cache: Cache, file: Path) -> None:
    newer = a_build(version="3.0")
    cache.write(newer, DIGESTS, {"floats": measured()})
    assert len(cache.read(newer)) == 1
    assert len(cache.read(BUILD)) == 0


@pytest.mark.parametrize("key", ["location", "python", "device_target"])
def test_every_place_has_a_file_of_its_own(cache: Cache, key: str) -> None:
    assert cache.path(a_build(**{key: "other"})) != cache.path(BUILD)


def test_the_users_own_folder_is_taken_where_none_is_named(tmp_path: Path) -> None:
    assert Cache().folder == str(tmp_path / "home" / "ms_compat")


class TestWhatIsNotUsedAnyMore:
    @pytest.mark.parametrize(
        "key", ["version", "commit", "numpy", "platform", "extension_size", "extension_mtime", "sources"]
    )
    def test_is_a_miss_that_names_what_changed_in_the_build(self, cache: Cache, file: Path, key: str) -> None:
        cached = cache.read(a_build(**{key: "other"}))
        assert cached.find("holds_water", "d1") is None
        assert cached.notes == [f"{key} is 'other' now, but what is cached was measured with {getattr(BUILD, key)!r}"]

    def test_names_every_change(self, cache: Cache, file: Path) -> None:
        assert len(cache.read(a_build(version="3.0", commit=None, numpy=None)).notes) == 3

    def test_is_a_miss_where_the_key_has_grown(self, cache: Cache, file: Path) -> None:
        data = json.loads(file.read_text())
        del data["build"]["sources"]
        file.write_text(json.dumps(data))
        assert "measured with None" in cache.read(BUILD).notes[0]

    def test_is_what_another_probe_measured(self, cache: Cache, file: Path) -> None:
        cached = cache.read(BUILD)
        assert cached.find("holds_water", "changed") is None
        assert cached.find("holds_water", "changed") is None
        assert cached.notes == ["the probe of holds_water has changed since it was cached"]

    @pytest.mark.parametrize(("age", "used"), [(60, True), (3500, True), (3700, False), (-3600, False)])
    def test_is_a_failure_of_more_than_an_hour_ago_or_of_a_clock_set_back(
        self, cache: Cache, age: int, used: bool
    ) -> None:
        then = datetime.now(timezone.utc) - timedelta(seconds=age)
        failure = Measurement.unknown("the power failed", then.isoformat(timespec="seconds"))
        cache.write(BUILD, DIGESTS, {"holds_water": failure})
        cached = cache.read(BUILD)
        assert (cached.find("holds_water", "d1") == failure) is used
        assert bool(cached.notes) is not used

    def test_is_said_in_the_log(self, cache: Cache, file: Path, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.INFO, "ms_compat"):
            cache.read(a_build(version="3.0"))
        assert "cache: version is '3.0' now" in caplog.text


def test_an_answer_does_not_expire_when_the_clock_is_set_back(cache: Cache) -> None:
    tomorrow = datetime.now(timezone.utc) + timedelta(days=1)
    cache.write(BUILD, DIGESTS, {"holds_water": Measurement(Answer.YES, "dry", {}, tomorrow.isoformat())})
    assert found(cache) is not None


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-40])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def garbled(file: Path) -> None:
    file.write_bytes(b"\xff\xfe\x00")


def too_large(file: Path) -> None:
    with file.open("r+b") as grown:
        grown.truncate(2**32)


def nested_too_deeply(file: Path) -> None:
    file.write_text("[" * 100_000)


def with_another_schema(file: Path) -> None:
    change(file, 2, "schema")


def without_features(file: Path) -> None:
    change(file, [], "features")


def with_an_answer_that_is_none(file: Path) -> None:
    change(file, "maybe", "features", "holds_water", "verdict")


def with_a_list_for_an_answer(file: Path) -> None:
    change(file, ["yes"], "features", "holds_water", "verdict")


def measured_nobody_knows_when(file: Path) -> None:
    change(file, None, "features", "holds_water", "measured_at")


def measured_at_no_time(file: Path) -> None:
    change(file, "yesterday", "features", "holds_water", "measured_at")


def measured_in_no_time_zone(file: Path) -> None:
    change(file, "2026-01-02T03:04:05", "features", "holds_water", "measured_at")


def writable_by_the_group(file: Path) -> None:
    file.chmod(0o620)


def writable_by_all(file: Path) -> None:
    file.chmod(0o602)


def in_a_folder_writable_by_the_group(file: Path) -> None:
    file.parent.chmod(0o770)


def in_a_folder_writable_by_all(file: Path) -> None:
    file.parent.chmod(0o1777)


def a_link(file: Path) -> None:
    file.symlink_to(file.rename(file.with_name("elsewhere")))


def in_a_folder_that_is_a_link(file: Path) -> None:
    file.parent.symlink_to(file.parent.rename(file.parent.with_name("elsewhere")))


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def in_a_folder_that_is_a_file(file: Path) -> None:
    file.parent.rename(file.parent.with_name("elsewhere"))
    file.parent.write_text("")


def planted_by_somebody_else(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(file, 12345, -1)


def in_the_folder_of_somebody_else(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    os.chown(file.parent, 12345, -1)


def assert_miss_with_one_warning(cache: Cache, reason: str) -> None:
    with pytest.warns(CacheWarning, match=f"is not used: .*{reason}") as caught:
        first, second = cache.read(BUILD), cache.read(BUILD)
    assert first.find("holds_water", "d1") is None
    assert len(caught) == 1
    assert first.notes == second.notes == [str(caught[0].message)]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (truncated, ""),
        (empty, "Expecting value"),
        (garbled, "can't decode"),
        (too_large, "it is larger than 4194304 bytes"),
        (nested_too_deeply, "recursion"),
        (with_another_schema, "expected schema 1"),
        (without_features, "expected a build and features"),
        (with_an_answer_that_is_none, "expected yes, no or unknown, found 'maybe'"),
        (with_a_list_for_an_answer, "expected yes, no or unknown"),
        (measured_nobody_knows_when, "expected the time it was measured"),
        (measured_at_no_time, "yesterday"),
        (measured_in_no_time_zone, "with its zone"),
        (writable_by_the_group, r"others may write to .*json \(mode 0620\)"),
        (writable_by_all, r"others may write to .*json \(mode 0602\)"),
        (in_a_folder_writable_by_the_group, r"others may write to .*cache \(mode 0770\)"),
        (in_a_folder_writable_by_all, r"others may write to .*cache \(mode 1777\)"),
        (a_link, "symbolic link"),
        (in_a_folder_that_is_a_link, "is not a directory of its own"),
        (a_pipe, "it is not a regular file"),
        (a_folder, "it is not a regular file"),
        (in_a_folder_that_is_a_file, "is not a directory of its own"),
        (planted_by_somebody_else, "json belongs to user 12345, not to you"),
        (in_the_folder_of_somebody_else, "cache belongs to user 12345, not to you"),
    ],
)
def test_a_cache_that_cannot_be_trusted_is_a_miss_with_one_warning(
    cache: Cache, file: Path, damage: Callable[[Path], None], reason: str
) -> None:
    damage(file)
    assert_miss_with_one_warning(cache, reason)


def test_a_cache_that_cannot_be_read_is_a_miss_with_one_warning(
    cache: Cache, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> NoReturn:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "open", fail)
    assert_miss_with_one_warning(cache, "Input/output error")


def test_a_cache_that_is_not_used_holds_no_file_open(cache: Cache, file: Path) -> None:
    a_folder(file)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.warns(CacheWarning):
        cache.read(BUILD)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"[]"])
def test_a_damaged_file_is_written_anew(cache: Cache, file: Path, damage: bytes) -> None:
    file.write_bytes(damage)
    cache.write(BUILD, DIGESTS, {"holds_water": measured()})
    assert found(cache) is not None


def test_a_full_disk_costs_one_warning_and_nothing_that_was_cached(cache: Cache, file: Path, full_disk: None) -> None:
    with pytest.warns(CacheWarning, match=r"are not cached and will be measured again .*No space left"):
        cache.write(BUILD, DIGESTS, {"holds_water": measured()})
    cache.write(BUILD, DIGESTS, {"holds_water": measured()})
    assert found(cache) is not None


def test_a_home_that_cannot_be_written_to_costs_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(str(tmp_path / "file" / "cache"))
    with pytest.warns(CacheWarning, match="are not cached"):
        cache.write(BUILD, DIGESTS, {"holds_water": measured()})
    with pytest.warns(CacheWarning, match="may all probe, since they cannot wait"), cache.lock(BUILD, 1) as held:
        assert held


def test_nothing_is_written_into_a_folder_that_others_may_write_to(cache: Cache, file: Path) -> None:
    file.parent.chmod(0o777)
    before = file.read_text()
    with pytest.warns(CacheWarning, match="others may write to"):
        cache.write(BUILD, DIGESTS, {"floats": measured()})
    assert file.read_text() == before


@given(content=st.binary(max_size=200) | st.text().map(str.encode))
def test_whatever_bytes_are_in_the_file_it_is_a_miss_with_at_most_one_warning(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    cache = Cache(str(tmp_path_factory.getbasetemp() / "any_bytes"))
    Path(cache.folder).mkdir(mode=0o700, exist_ok=True)
    Path(cache.path(BUILD)).write_bytes(content)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert found(cache) is None
    assert len(caught) <= 1


rows: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(["yes", "no", "unknown", "maybe", None, [], {}]),
        "summary": st.text(max_size=3) | st.none(),
        "evidence": st.dictionaries(st.text(max_size=2), st.none() | st.integers() | st.just([]), max_size=2),
        "measured_at": st.sampled_from(["2026-01-02T03:04:05+00:00", "9999-12-31T23:59:59-23:59", "now", "", None, 1]),
    },
    optional={"digest": st.sampled_from(["d1", None, []])},
)


@given(features=st.dictionaries(st.sampled_from(["holds_water", "floats"]), rows | st.integers()))
def test_whatever_rows_are_in_the_file_reading_them_is_never_an_error(
    tmp_path_factory: pytest.TempPathFactory, features: dict[str, Any]
) -> None:
    cache = Cache(str(tmp_path_factory.getbasetemp() / "any_rows"))
    Path(cache.folder).mkdir(mode=0o700, exist_ok=True)
    Path(cache.path(BUILD)).write_text(json.dumps({"schema": 1, "build": BUILD.identity(), "features": features}))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found(cache)
    assert len(caught) <= 1


class TestTheLock:
    def test_is_waited_for_no_longer_than_the_bound(self, cache: Cache) -> None:
        with cache.lock(BUILD, 1) as first, Cache(cache.folder).lock(BUILD, 0.05) as second:
            assert first
            assert not second

    def test_is_free_again_after_the_block_however_it_ends(self, cache: Cache) -> None:
        with pytest.raises(ZeroDivisionError), cache.lock(BUILD, 1):
            1 / 0  # noqa: B018
        with Cache(cache.folder).lock(BUILD, 0.05) as held:
            assert held

    def test_is_handed_on_to_who_waits(self, cache: Cache) -> None:
        took: list[bool] = []

        def wait() -> None:
            with Cache(cache.folder).lock(BUILD, 10) as held:
                took.append(held)

        with cache.lock(BUILD, 1):
            waiting = threading.Thread(target=wait)
            waiting.start()
        waiting.join()
        assert took == [True]

    def test_of_one_place_does_not_hold_up_another(self, cache: Cache) -> None:
        elsewhere = a_build(location="/elsewhere")
        with cache.lock(BUILD, 1), Cache(cache.folder).lock(elsewhere, 0.05) as held:
            assert held

    def test_is_done_without_where_the_file_system_has_none(
        self, cache: Cache, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any, **__: Any) -> NoReturn:
            raise NotImplementedError("FileSystem does not appear to support flock")

        monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
        with pytest.warns(CacheWarning, match="cannot wait for each other"), cache.lock(BUILD, 1) as held:
            assert held


def test_a_failure_is_remembered_for_an_hour() -> None:
    assert cache_module._UNKNOWN_EXPIRES == 3600

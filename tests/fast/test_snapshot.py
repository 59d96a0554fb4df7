from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ms_compat.collect import Collection
from ms_compat.errors import SnapshotError
from ms_compat.measurement import Answer
from ms_compat.snapshot import read, take
from ms_compat.verdict import Source, Verdict
from tests.house import move_in
from tests.standin import a_build, measured

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUILD = a_build()


@pytest.fixture(scope="module")
def collection() -> Iterator[Collection]:
    with pytest.MonkeyPatch.context() as patch:
        move_in(patch.setattr)
        yield Collection()


@pytest.fixture
def taken(collection: Collection) -> dict[str, Any]:
    answers = {"frees_memory": Answer.NO, "calls_return": Answer.UNKNOWN}
    return take(
        BUILD,
        [Verdict(collection.load(name), Source.PROBED, BUILD, measured(answer)) for name, answer in answers.items()],
        None,
    )


def test_a_snapshot_gives_back_every_verdict(taken: dict[str, Any], collection: Collection) -> None:
    verdicts = read(taken, BUILD, collection)
    assert {name: verdict.answer for name, verdict in verdicts.items()} == {
        "frees_memory": Answer.NO,
        "calls_return": Answer.UNKNOWN,
    }
    assert verdicts["frees_memory"].source is Source.PROBED


def test_a_snapshot_travels_as_a_file(collection: Collection, tmp_path: Path) -> None:
    verdict = Verdict(collection.load("frees_memory"), Source.RECORDED, BUILD, measured(Answer.NO, steps=3))
    take(BUILD, [verdict], tmp_path / "s.json")
    assert read(tmp_path / "s.json", BUILD, collection) == {"frees_memory": verdict}
    assert read(str(tmp_path / "s.json"), BUILD, collection) == {"frees_memory": verdict}


@pytest.mark.parametrize("key", ["version", "commit", "device_target", "extension_size", "sources"])
def test_a_snapshot_of_another_mindspore_is_refused_and_the_difference_named(
    taken: dict[str, Any], collection: Collection, key: str
) -> None:
    with pytest.raises(SnapshotError, match=f"taken where {key} is .*, but here it is 'other'"):
        read(taken, a_build(**{key: "other"}), collection)


@pytest.mark.parametrize("key", ["python", "numpy", "location", "extension_mtime"])
def test_two_hosts_may_differ_in_what_does_not_matter(taken: dict[str, Any], collection: Collection, key: str) -> None:
    assert read(taken, a_build(**{key: "other"}), collection)


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (["schema"], 2, "expected schema 1, found 2"),
        (["features", "frees_memory", "source"], "rumour", "rumour"),
        (["features", "frees_memory", "verdict"], ["yes"], "verdict"),
        (["features", "frees_memory", "measured_at"], "yesterday", "yesterday"),
        (["features", "frees_memory", "measured_at"], "2026-01-02T03:04:05", "expected a time with its zone"),
        (["features", "free_memory"], {}, "did you mean frees_memory"),
        (["features"], [1], "snapshot cannot be used"),
        (["build"], None, "snapshot cannot be used"),
    ],
)
def test_a_snapshot_that_was_tampered_with_is_refused(
    taken: dict[str, Any], collection: Collection, path: list[str], value: Any, complaint: str
) -> None:
    inner = taken
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(SnapshotError, match=complaint):
        read(taken, BUILD, collection)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"{", "JSONDecodeError"),
        (b"\xff", "UnicodeDecodeError"),
        (b"[" * 100_000, "RecursionError"),
        (b"[]", "TypeError"),
        (b"{}", "KeyError: 'schema'"),
        (b" " * (4 * 2**20 + 1), "larger than 4194304 bytes"),
    ],
)
def test_a_file_that_is_no_snapshot_is_refused(
    tmp_path: Path, collection: Collection, content: bytes, complaint: str
) -> None:
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(SnapshotError, match=complaint):
        read(tmp_path / "s.json", BUILD, collection)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path, collection: Collection) -> None:
    with pytest.raises(SnapshotError, match="FileNotFoundError"):
        read(tmp_path / "s.json", BUILD, collection)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("yes"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
row = st.fixed_dictionaries(
    {
        "verdict": st.just("yes") | anything,
        "summary": st.just("dry") | anything,
        "evidence": st.just({}) | anything,
        "measured_at": st.none() | anything,
        "source": st.just("probed") | anything,
    }
)
almost = st.fixed_dictionaries(
    {
        "schema": st.just(1),
        "build": st.just(BUILD.as_json()) | anything,
        "features": st.dictionaries(st.sampled_from(["frees_memory", "calls_return", "nonsense"]), row | anything)
        | anything,
    }
)


@given(json_value=anything | almost)
def test_no_json_does_more_than_be_refused(collection: Collection, json_value: Any) -> None:
    try:
        verdicts = read(json_value if isinstance(json_value, dict) else {"schema": json_value}, BUILD, collection)
    except SnapshotError:
        return
    json.dumps([verdict.as_json() for verdict in verdicts.values()])

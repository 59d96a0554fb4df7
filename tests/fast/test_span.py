from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import InvalidSpecifier
from packaging.version import Version

from ms_compat.span import SUPPORTED_MINIMUM, Span, lies_in

releases = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
suffixes = st.sampled_from(["", "a1", "b2", "rc1", ".dev20260915", "rc1.dev3", ".post1", "+ascend", ".post1.dev2"])


@pytest.mark.parametrize(
    ("version", "specifier", "answer"),
    [
        ("2.10.0", ">=2.9,<2.11", True),
        ("2.8.0", ">=2.9", False),
        ("2.9", "==2.9.0", True),
        ("2.9.0+ascend", "==2.9.0", True),
        ("2.9.0+ascend", "<2.9", False),
        ("2.9.0.post1", "<=2.9.0", True),
        ("2.10.0rc1", ">=2.9", True),
        ("2.10.0rc1", "<2.11", True),
        ("2.10.0rc1", "<2.9", False),
        ("2.10.0rc1", "<2.10", None),
        ("2.10.0rc1", ">=2.10", None),
        ("2.10.0rc1", ">=2.9,<2.10", None),
        ("2.10.0rc1", "==2.10.*", None),
        ("2.10.1rc1", "==2.10.*", True),
        ("2.11.0.dev20260915", ">=2.11", None),
        ("2.11.0.dev20260915", ">=2.10,<2.12", True),
        ("1!2.9.0", ">=2.9", None),
        ("nightly", ">=2.9", None),
        ("", ">=2.9", None),
    ],
)
def test_whether_a_version_lies_in_a_span(version: str, specifier: str, answer: bool | None) -> None:
    assert lies_in(version, specifier) is answer


def test_a_specifier_that_is_none_is_an_error_of_the_author() -> None:
    with pytest.raises(InvalidSpecifier):
        lies_in("2.9.0", "from 2.9 on")


@given(releases, suffixes, releases)
def test_two_spans_that_meet_give_every_version_one_answer_and_a_pre_release_of_the_bound_none(
    release: str, suffix: str, bound: str
) -> None:
    version = release + suffix
    answers = [Span(f"<{bound}", False).answer(version, "CPU"), Span(f">={bound}", True).answer(version, "CPU")]
    said = [answer for answer in answers if answer is not None]
    parsed = Version(version)
    if parsed.is_prerelease and Version(parsed.base_version) == Version(bound):
        assert said == []
    else:
        assert said == [Version(release) >= Version(bound)]


@given(releases, st.sampled_from([".post3", "+ascend.7", ".post1+cpu"]), releases)
def test_a_post_release_or_a_local_version_counts_as_its_release(release: str, suffix: str, bound: str) -> None:
    for specifier in (f">={bound}", f"<{bound}", f"=={bound}", f">{bound}", f"!={bound}"):
        assert lies_in(release + suffix, specifier) is lies_in(release, specifier)


@given(st.text())
def test_no_text_in_place_of_a_version_is_an_error(text: str) -> None:
    assert lies_in(text, ">=2.9,<2.11") in {True, False, None}


@given(releases, st.integers(1, 9))
def test_a_version_with_an_epoch_is_always_unknown(release: str, epoch: int) -> None:
    assert lies_in(f"{epoch}!{release}", ">=0") is None


def test_a_span_says_what_holds_inside_and_nothing_outside() -> None:
    assert Span(">=2.9", False).answer("2.10.0", "CPU") is False
    assert Span(">=2.9", True).answer("2.10.0", "CPU") is True
    assert Span(">=2.9", True).answer("2.8.0", "CPU") is None


def test_the_supported_minimum_is_a_release() -> None:
    assert not Version(SUPPORTED_MINIMUM).is_prerelease


def test_a_span_for_one_device_is_silent_about_others() -> None:
    span = Span(">=2.9", True, device="CPU")
    assert span.answer("2.9.0", "CPU") is True
    assert span.answer("2.9.0", "Ascend") is None

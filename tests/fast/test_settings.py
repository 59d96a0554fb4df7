from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ms_compat.errors import MsCompatWarning, SettingError
from ms_compat.settings import ProbeMode, Settings, read_settings

likely = st.text() | st.text(alphabet="ab=,yesno \t")


def test_an_empty_environment_asks_for_nothing() -> None:
    assert read_settings({}) == Settings()
    assert read_settings({"MS_COMPAT_OVERRIDE": "", "MS_COMPAT_PROBE": "", "MS_COMPAT_CACHE_DIR": ""}) == Settings()


def test_the_process_environment_is_read_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MS_COMPAT_PROBE", "never")
    assert read_settings().probe is ProbeMode.NEVER


def test_every_setting_is_read() -> None:
    settings = read_settings(
        {
            "MS_COMPAT_OVERRIDE": " a = yes, b=no ,,a=yes",
            "MS_COMPAT_PROBE": "always",
            "MS_COMPAT_CACHE_DIR": "/var/cache",
            "MS_COMPAT_PROBE_DEVICE": "Ascend",
        }
    )
    assert settings == Settings({"a": True, "b": False}, ProbeMode.ALWAYS, "/var/cache", "Ascend")


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("MS_COMPAT_OVERRIDE", "a", "expected name=yes or name=no, separated by commas, found 'a'"),
        ("MS_COMPAT_OVERRIDE", "a=maybe", "found 'a=maybe'"),
        ("MS_COMPAT_OVERRIDE", "=yes", "found '=yes'"),
        ("MS_COMPAT_OVERRIDE", "a=YES", "found 'a=YES'"),
        ("MS_COMPAT_OVERRIDE", "a=yes,a=no", "a is set to yes and to no"),
        ("MS_COMPAT_PROBE", "sometimes", "expected one of auto, never, always, found 'sometimes'"),
        ("MS_COMPAT_CACHE_DIR", "here", "expected an absolute path, found 'here'"),
        ("MS_COMPAT_PROBE_DEVICE", "TPU", "expected one of CPU, GPU, Ascend, found 'TPU'"),
    ],
)
def test_a_wrong_value_is_an_error_that_says_what_is_allowed(name: str, value: str, complaint: str) -> None:
    with pytest.raises(SettingError, match=f"^{name}: .*{complaint}"):
        read_settings({name: value})


def test_a_misspelt_variable_is_pointed_out() -> None:
    with pytest.warns(MsCompatWarning, match="MS_COMPAT_PROBES is not a variable .*MS_COMPAT_PROBE,"):
        read_settings({"MS_COMPAT_PROBES": "never"})


@pytest.mark.parametrize(
    "name", ["MS_COMPAT_OVERRIDE", "MS_COMPAT_PROBE", "MS_COMPAT_CACHE_DIR", "MS_COMPAT_PROBE_DEVICE"]
)
@given(value=likely)
def test_any_text_is_understood_or_refused(name: str, value: str) -> None:
    with contextlib.suppress(SettingError):
        assert isinstance(read_settings({name: value}), Settings)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True), st.booleans()))
def test_overrides_are_understood_as_they_are_documented(answers: dict[str, bool]) -> None:
    text = ",".join(f"{name}={'yes' if answer else 'no'}" for name, answer in answers.items())
    assert read_settings({"MS_COMPAT_OVERRIDE": text}).overrides == answers

from __future__ import annotations

import pytest

from ms_compat import errors


def test_every_error_of_this_package_can_be_caught_as_one() -> None:
    raised = [getattr(errors, name) for name in errors.__all__ if name.endswith("Error")]
    assert all(issubclass(error, errors.MsCompatError) for error in raised)


def test_every_warning_of_this_package_can_be_filtered_as_one() -> None:
    given = [getattr(errors, name) for name in errors.__all__ if name.endswith("Warning")]
    assert all(issubclass(warning, errors.MsCompatWarning) for warning in given)


@pytest.mark.parametrize("kind", [AttributeError, KeyError])
def test_a_name_that_does_not_exist_is_reported_as_it_was_asked_for(kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught:
        raise errors.UnknownFeatureError("there is no 'x'")
    assert str(caught.value) == "there is no 'x'"

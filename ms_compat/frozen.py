"""Typed, immutable objects for what every look-up touches.

They are declared like frozen dataclasses. The standard library's would do, but importing them and making ten of their
classes takes 20 ms, half of what a whole look-up may take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: bool):
        """Says to type checkers only that the subclasses are declared like dataclasses."""
        return lambda declared: declared


__all__ = ["Frozen"]


@dataclass_transform(frozen_default=True)
class Frozen:
    """Base of a class whose annotations are its fields; a subclass may check them in ``_check``."""

    _fields: tuple[str, ...] = ()
    _required: frozenset[str] = frozenset()
    _positional = True

    def __init_subclass__(cls, *, kw_only: bool = False) -> None:
        cls._fields = tuple(cls.__annotations__)
        cls._required = frozenset(name for name in cls._fields if name not in cls.__dict__)
        cls._positional = not kw_only

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(self._fields if self._positional else (), args, strict=False))
        missing = self._required - given.keys() - kwargs.keys()
        unexpected = kwargs.keys() - set(self._fields) or given.keys() & kwargs.keys()
        if missing or unexpected or len(given) < len(args):
            raise TypeError(
                f"{type(self).__name__} takes {', '.join(self._fields)}; missing are {sorted(missing) or 'none'}, "
                f"unexpected or given twice {sorted(unexpected) or 'none'}, {len(args)} were given without a name"
            )
        self.__dict__.update(given, **kwargs)
        self._check()

    def _check(self) -> None:
        """Validate the fields; raises what fits."""

    def _replace(self, **changes: Any) -> Any:
        """A copy with some fields changed."""
        return type(self)(**{**self._asdict(), **changes})

    def _asdict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed, so {name} cannot be set to {value!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} cannot be changed, so {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Frozen) and type(other) is type(self) and self._asdict() == other._asdict()

    def __hash__(self) -> int:
        return hash(tuple(self._asdict().values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"

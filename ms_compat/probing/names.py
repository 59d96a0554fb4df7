"""What the probes of checkpoint files, optimizers and moved names share."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import tempfile
from typing import TYPE_CHECKING, Any

from ms_compat.feature import ApiMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "ADAM_STEP",
    "added_in_place",
    "api",
    "mint_optimizer",
    "refusal",
    "save_by_attribute",
    "step_of",
    "weight_file",
]

#: How far Adam's first step moves a weight whose gradient is not zero: its learning rate, here 0.1.
ADAM_STEP = 0.1


def api(module: str, *names: str) -> Any:
    """A name of a module, or the module itself; `ApiMissing` where one of them is not there."""
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ApiMissing(module) from None
    for name in names:
        if not hasattr(found, name):
            raise ApiMissing(f"{module}.{'.'.join(names)}")
        found = getattr(found, name)
    return found


def refusal(function: Callable[..., Any], *args: Any, **kwargs: Any) -> str | None:
    """Why the signature of a function does not take a call, or None where it does; nothing is called."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        return f"{function.__name__}: {error}"
    return None


@contextlib.contextmanager
def weight_file(name: str) -> Iterator[str]:
    """The path of a file that may be written in a folder of its own, which goes away afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, name)


def step_of(optimizer: Callable[[list[Any]], Any], *, steps: int = 1) -> float:
    """How far an optimizer moves a weight of 1.0 whose gradient is 0.5 in every step; positive is downhill."""
    from ms_compat.probing.workloads import parameter, tensor

    weight = parameter(1.0)
    update = optimizer([weight])
    for _ in range(steps):
        update((tensor(0.5),))
    return 1.0 - float(weight.asnumpy()[0])


def mint_optimizer(name: str) -> Callable[[list[Any]], Any]:
    """An optimizer of ``mindspore.mint.optim`` with a learning rate of 0.1."""
    from ms_compat.probing.workloads import wake_numpy

    optimizer = api("mindspore.mint.optim", name)
    wake_numpy()  # here and not in the optimizer

    def make(parameters: list[Any]) -> Any:
        return optimizer(parameters, lr=0.1)

    return make


def added_in_place() -> None:
    """Make ``Tensor.add_`` write into its tensor, as it does on a device that has the kernel; for counterproofs."""
    import mindspore

    def add_(self: Any, other: Any, *, alpha: Any = 1) -> Any:
        return self.copy_(self + other * alpha)

    mindspore.Tensor.add_ = add_


def save_by_attribute() -> None:
    """Make ``save_checkpoint`` write what ``state_dict()`` names; for counterproofs."""
    import mindspore

    save = mindspore.save_checkpoint

    def save_state(network: Any, path: str) -> None:
        save([{"name": name, "data": value} for name, value in network.state_dict().items()], path)

    mindspore.save_checkpoint = save_state

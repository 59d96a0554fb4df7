"""zero_, fill_, masked_fill_ and other in-place methods have no kernel on CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Callable


def _calls() -> dict[str, Callable[[Any], object]]:
    """Each method, called on a Tensor that holds 4, so that the Tensor has to hold something else afterwards."""
    import mindspore

    from ms_compat.probing.workloads import tensor

    first = mindspore.Tensor([0], mindspore.int64)
    return {
        "zero_": lambda x: x.zero_(),
        "fill_": lambda x: x.fill_(7.0),
        "clamp_": lambda x: x.clamp_(1.0, 2.0),
        "masked_fill_": lambda x: x.masked_fill_(x > 2.0, 0.0),
        "index_fill_": lambda x: x.index_fill_(0, first, 0.0),
        "index_add_": lambda x: x.index_add_(0, first, tensor(1.0)),
        "scatter_": lambda x: x.scatter_(0, first, tensor(1.0)),
        "log_": lambda x: x.log_(),
        "normal_": lambda x: x.normal_(),
        "uniform_": lambda x: x.uniform_(),
    }


def probe() -> Finding:
    """Call each method and wait for it, since the error comes when the pipeline runs it."""
    import mindspore

    from ms_compat.probing.tensors import listing, numbers, tensor_method
    from ms_compat.probing.workloads import drain, first_line, tensor, wake_numpy

    wake_numpy()
    calls = _calls()
    for name in calls:
        tensor_method(name)
    missing, error_text = [], None
    state = mindspore.get_rng_state()
    try:
        for name, call in calls.items():
            x = tensor(4.0)
            drain()
            try:
                call(x)
                drain()
            except RuntimeError as error:
                if "kernel" not in str(error).lower():
                    raise
                missing.append(name)
                error_text = error_text or first_line(error)
                continue
            if numbers(x) == [4.0]:
                raise RuntimeError(f"{name} neither raised nor changed the Tensor")
    finally:
        mindspore.set_rng_state(state)
    return Finding(
        not missing,
        f"{len(missing)} of {len(calls)} in-place methods have no kernel ({listing(missing)})",
        {"missing": listing(missing), "methods": len(calls), "error": error_text},
    )


def counterproof() -> None:
    """Write what the methods are to write with copy_."""
    import mindspore

    def writing(name: str) -> None:
        def method(self: Any, *_: Any) -> Any:
            return self.copy_(mindspore.Tensor([1.0], mindspore.float32))

        setattr(mindspore.Tensor, name, method)

    for name in _calls():
        writing(name)


FEATURE = Feature(
    name="inplace_kernels_exist",
    question="Do zero_, fill_, clamp_, masked_fill_, scatter_ and other in-place methods work?",
    matters=(
        "Parameters are initialized and gradient buffers cleared with them (MindFormers' PyNative layers, "
        "HyperParallel's acc_grad.zero_()). On CPU there is no kernel. The call itself returns; the error comes at a "
        "later operation that waits, and names neither the line nor the tensor."
    ),
    harm=Harm.FAILS,
    symptom="RuntimeError: The kernel InplaceZero unregistered (InplaceFillScalar, InplaceMaskedFillScalar, ...)",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "On CPU write the values: x[:] = 0.0 for zero_ and fill_, x.copy_(ops.clamp(x, 1.0, 2.0)) or "
            "x.copy_(ops.masked_fill(x, mask, 0.0)) for the others; for normal_ and uniform_ "
            "x.set_data(initializer('normal', x.shape, x.dtype)) of a Parameter."
        ),
        cost="one more Tensor of the same size per call",
    ),
    groups=("inplace",),
    spans=(Span(">=2.7.2,<2.11", False, device="CPU"),),
    references=(
        "mindspore/common/tensor.py: Tensor.zero_",
        "mindformers/pynative/layers/layer_norm.py: gamma.fill_, beta.zero_",
        "hyper_parallel/core/fully_shard/hsdp_grad_buffer.py: acc_grad_buffer.zero_",
    ),
    counterproof=counterproof,
)

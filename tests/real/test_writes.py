"""In-place writes, versions and memory for Parameters on the real MindSpore, with and without the shim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ms_compat import Features

if TYPE_CHECKING:
    from tests.real.conftest import InChild

VIEWS = ("itself", "narrow", "view", "slice", "chunk", "transposed", "row", "element", "view_of_a_view")


def _view(tensor: Any, name: str) -> Any:
    from mindspore import mint

    views = {
        "itself": lambda: tensor,
        "narrow": lambda: tensor.narrow(0, 2, 2),
        "view": lambda: tensor.view((2, 3)),
        "slice": lambda: tensor[2:4],
        "chunk": lambda: mint.chunk(tensor, 2)[1],
        "transposed": lambda: tensor.view((2, 3)).T,
        "row": lambda: tensor.view((2, 3))[1],
        "element": lambda: tensor[3],
        "view_of_a_view": lambda: tensor.view((2, 3)).narrow(1, 1, 2),
    }
    return views[name]()


def writes(with_shim: bool) -> dict[str, list[bool]]:
    """For each kind of view: whether a whole write, arithmetic and a number arrive in it and in what it views."""
    import numpy as np
    from mindspore import Tensor, ops

    import ms_compat

    def arrives(view: str, write: Any) -> bool:
        base = ops.add(Tensor(np.arange(6, dtype=np.float32)), 0.0)
        target = _view(base, view)
        before, rest = target.asnumpy().copy(), base.asnumpy().sum() - target.asnumpy().sum()
        right = write(target, before)
        return bool(
            np.array_equal(target.asnumpy(), right) and np.isclose(base.asnumpy().sum(), rest + np.asarray(right).sum())
        )

    def whole(target: Any, before: Any) -> Any:
        value = Tensor(np.full(before.shape, 9, np.float32))
        ms_compat.write_(target, value) if with_shim else target.copy_(value)
        return np.full_like(before, 9)

    def arithmetic(target: Any, before: Any) -> Any:
        other = Tensor(np.full(before.shape, 2, np.float32))
        if with_shim:
            for operation in (ms_compat.mul_, ms_compat.div_):
                operation(target, other)
            ms_compat.add_(ms_compat.sub_(target, other), other, alpha=4)
        else:
            target.mul_(other).div_(other).sub_(other).add_(other, alpha=4)
        return before + 6

    def number(target: Any, before: Any) -> Any:
        ms_compat.write_(target, 7)
        return np.full_like(before, 7)

    kinds = (whole, arithmetic, number) if with_shim else (whole, arithmetic)
    return {view: [arrives(view, kind) for kind in kinds] for view in VIEWS}


def writes_of_other_kinds() -> dict[str, Any]:
    import mindspore
    import numpy as np
    from mindspore import Parameter, Tensor, ops

    import ms_compat

    overlapping = ops.add(Tensor(np.arange(6, dtype=np.float32)), 0.0)
    ms_compat.write_(overlapping[1:], overlapping[:-1])
    parameter = Parameter(Tensor([1.0, 2.0], mindspore.float32), name="weight")
    ms_compat.mul_(parameter, 2.0)
    whole_numbers = Tensor([1, 2, 3], mindspore.int32)
    ms_compat.write_(whole_numbers, Tensor([1.7, 2.7, 9.0], mindspore.float32))
    scalar = Tensor(3.0, mindspore.float32)
    ms_compat.write_(scalar, Tensor(5.0, mindspore.float32))
    rows = ops.zeros((2, 3), mindspore.float32)
    ms_compat.write_(rows, Tensor([1.0, 2.0, 3.0], mindspore.float32))
    with pytest.raises(ValueError, match=r"expected a value that broadcasts to \(2, 3\), found shape \(2,\)"):
        ms_compat.write_(rows, Tensor([1.0, 2.0], mindspore.float32))
    return {
        "overlapping": overlapping.asnumpy().tolist(),
        "parameter": [parameter.asnumpy().tolist(), parameter.requires_grad, parameter.name],
        "cast": whole_numbers.asnumpy().tolist(),
        "scalar": float(scalar.asnumpy()),
        "broadcast": rows.asnumpy().tolist(),
    }


def versions(with_shim: bool, steps: int) -> int:
    """How often a version that is read right after a write is not the right one."""
    from mindspore import Tensor, ops

    import ms_compat

    tensor = ops.add(Tensor([1.0, 2.0]), 0.0)
    value = Tensor([3.0, 4.0])
    wrong = 0
    for step in range(steps):
        # Something to do first, so that the write has not happened when its version is read.
        for _ in range(20):
            ops.add(value, 1.0)
        tensor.copy_(value)
        wrong += (ms_compat.version(tensor) if with_shim else tensor._version) != step + 1
    return wrong


def preserved_versions(with_shim: bool, steps: int) -> dict[str, int]:
    import time

    from mindspore import Tensor, ops

    import ms_compat
    from ms_compat.moved import graph_api

    context = ms_compat.preserve_version_counter if with_shim else graph_api()._unsafe_preserve_version_counter
    tensor = ops.add(Tensor([1.0, 2.0]), 0.0)
    changed = 0
    for step in range(steps):
        value = Tensor([float(step), 4.0])
        before = ms_compat.version(tensor)
        # A pipeline that sleeps is late with the write.
        time.sleep(0.002)
        with context(tensor):
            tensor.copy_(value)
        changed += ms_compat.version(tensor) != before
    return {"changed": changed, "value": int(tensor.asnumpy()[0])}


def memory_for_parameters(meta: bool) -> dict[str, Any]:
    import contextlib

    import mindspore
    from mindspore import nn, ops

    import ms_compat

    with mindspore.DeviceCtx("meta") if meta else contextlib.nullcontext():
        cell = nn.SequentialCell(nn.Dense(3, 4), nn.Dense(4, 2))
    before = {name: id(parameter) for name, parameter in cell.parameters_and_names()}
    same = ms_compat.to_empty(cell, device="CPU") is cell
    parameters = dict(cell.parameters_and_names())
    for parameter in parameters.values():
        parameter.set_data(ops.ones(parameter.shape, parameter.dtype))
    return {
        "same": same and before == {name: id(parameter) for name, parameter in parameters.items()},
        "shapes": sorted(list(parameter.shape) for parameter in parameters.values()),
        "trainable": all(parameter.requires_grad for parameter in parameters.values()),
        "output": cell(ops.ones((1, 3), mindspore.float32)).asnumpy().tolist(),
    }


class TestAWrite:
    def test_arrives_in_every_view_with_the_shim(self, in_child: InChild) -> None:
        assert in_child(writes, True) == {view: [True, True, True] for view in VIEWS}

    def test_is_lost_without_it(self, in_child: InChild) -> None:
        features = Features()
        found = in_child(writes, False)
        arrives, mutates = bool(features.narrow_copy_writes_through), bool(features.inplace_ops_mutate)
        assert [found["narrow"][0], found["slice"][0], found["chunk"][0]] == [arrives] * 3
        assert {kinds[1] for kinds in found.values()} == {mutates}

    def test_casts_broadcasts_and_keeps_what_the_target_is(self, in_child: InChild) -> None:
        assert in_child(writes_of_other_kinds) == {
            "overlapping": [0, 0, 1, 2, 3, 4],
            "parameter": [[2.0, 4.0], True, "weight"],
            "cast": [1, 2, 9],
            "scalar": 5.0,
            "broadcast": [[1, 2, 3], [1, 2, 3]],
        }


class TestAVersion:
    def test_counts_every_write_with_the_shim(self, in_child: InChild) -> None:
        assert in_child(versions, True, 100) == 0

    def test_is_read_too_early_without_it(self, in_child: InChild) -> None:
        if Features().version_read_is_synchronous:
            pytest.skip("it is not read too early here")
        assert in_child(versions, False, 100) > 0

    def test_can_be_preserved_over_a_write(self, in_child: InChild) -> None:
        if "missing_api" in Features().version_counter_preserving.evidence:
            pytest.skip("there is nothing to preserve it with before 2.10")
        assert in_child(preserved_versions, True, 100) == {"changed": 0, "value": 99}

    def test_changes_all_the_same_without_the_shim(self, in_child: InChild) -> None:
        verdict = Features().version_counter_preserving
        if verdict or "missing_api" in verdict.evidence:
            pytest.skip("MindSpore's own context keeps it, or there is none")
        assert in_child(preserved_versions, False, 100)["changed"] > 0

    def test_cannot_be_preserved_where_there_is_no_way_to(self) -> None:
        from ms_compat import FeatureError, preserve_version_counter

        if "missing_api" not in Features().version_counter_preserving.evidence:
            pytest.skip("there is a way from 2.10 on")
        with pytest.raises(FeatureError, match="_unsafe_preserve_version_counter"), preserve_version_counter(object()):
            pytest.fail("the block ran")


class TestMemoryForParameters:
    @pytest.mark.parametrize("meta", [False, True])
    def test_is_there_after_to_empty(self, in_child: InChild, meta: bool) -> None:
        if meta and not Features().meta_device:
            pytest.skip("there is no meta device here")
        assert in_child(memory_for_parameters, meta) == {
            "same": True,
            "shapes": [[2], [2, 4], [4], [4, 3]],
            "trainable": True,
            "output": [[17.0, 17.0]],
        }

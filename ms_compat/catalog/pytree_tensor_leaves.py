"""mindspore.utils._pytree: nested arguments as a flat list of tensors and back."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import ApiMissing, Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_MODULE = "mindspore.utils._pytree"


def probe() -> Finding:
    """Flatten a nest to its tensors, replace them, and build it up again."""
    from ms_compat.probing.names import api
    from ms_compat.probing.workloads import accepts, tensor

    flatten, unflatten = api(_MODULE, "tree_flatten"), api(_MODULE, "tree_unflatten")
    if not accepts(flatten, "tensors_only_leaf"):
        raise ApiMissing(f"{_MODULE}.tree_flatten(tensors_only_leaf=)")
    first, second, third = tensor(1.0), tensor(2.0), tensor(3.0)
    leaves, structure = flatten({"a": [first, 1, None], "b": (second, "text")}, tensors_only_leaf=True)
    only_tensors = len(leaves) == 2 and leaves[0] is first and leaves[1] is second
    rebuilt: Any = unflatten(structure, [third, second]) if only_tensors else None
    right = only_tensors and rebuilt["a"][0] is third and rebuilt["a"][1:] == [1, None] and rebuilt["b"][1] == "text"
    return Finding(
        right,
        f"a nest with 2 tensors and 3 other values has {len(leaves)} leaves and "
        f"{'comes' if right else 'does not come'} back with other tensors in it",
        {"leaves": len(leaves), "rebuilt": right},
    )


def counterproof() -> None:
    """Make every value a leaf."""
    from ms_compat.probing.names import api

    module = api(_MODULE)
    original = module.tree_flatten

    def tree_flatten(tree: Any, is_leaf: Any = None, tensors_only_leaf: bool = False) -> Any:
        del tensors_only_leaf
        return original(tree, is_leaf)

    module.tree_flatten = tree_flatten


FEATURE = Feature(
    name="pytree_tensor_leaves",
    question="Can mindspore.utils._pytree flatten a nest to its tensors and build it up again?",
    matters=(
        "HyperParallel's scheduler, hooks and pipeline take their nested inputs and outputs apart with it. Below 2.9 "
        "the module is not there and none of them can be imported."
    ),
    harm=Harm.MOVED,
    symptom="ImportError: cannot import name '_pytree' from 'mindspore.utils'",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Walk lists, tuples and dictionaries with a recursive function of your own, or require MindSpore >= 2.9. "
            "The order of tree_unflatten's arguments is structure, leaves - torch's is the other way round."
        ),
        cost="some dozen lines of Python, slower than the compiled module",
        remove_when=">=2.9",
    ),
    groups=("moved_names",),
    spans=(Span(">=2.7.2,<2.9", False), Span(">=2.9,<2.11", True)),
    references=("mindspore/utils/_pytree.py: tree_flatten",),
    counterproof=counterproof,
)

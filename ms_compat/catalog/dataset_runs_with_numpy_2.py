"""mindspore.dataset converts rows with np.array(copy=False), which numpy 2 refuses."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.probing.installed import harmless_with_numpy_1
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def _numpy_2() -> Iterator[None]:
    """Let np.array refuse what numpy 2 refuses: copy=False for something that has to be copied."""
    from unittest import mock

    import numpy as np

    original = np.array

    def array(value: Any, *arguments: Any, copy: bool = True, **keywords: Any) -> Any:
        if not copy and not isinstance(value, np.ndarray):
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return original(value, *arguments, copy=copy, **keywords)

    with mock.patch.object(np, "array", array):
        yield


def probe() -> Finding:
    """Read Python numbers through a dataset, with numpy 2 or with a numpy that is as strict."""
    import mindspore.dataset as data
    import numpy as np

    installed = int(np.__version__.partition(".")[0]) >= 2
    with contextlib.nullcontext() if installed else _numpy_2():
        rows = data.GeneratorDataset([1, 2], ["row"], shuffle=False)
        try:
            read = [int(row["row"]) for row in rows.create_dict_iterator(num_epochs=1, output_numpy=True)]
        except RuntimeError as error:
            if "Unable to avoid copy" not in str(error):
                raise
            read = []
    return Finding(
        read == [1, 2],
        f"{len(read)} of 2 rows of Python numbers come through a dataset with "
        + ("numpy 2" if installed else "a numpy as strict as numpy 2"),
        {"rows": 2, "read": len(read), "numpy_2_installed": installed},
    )


def counterproof() -> None:
    """Convert with np.asarray, as numpy's migration guide says."""
    import importlib
    import types

    import numpy as np

    class Lenient(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        @staticmethod
        def array(value: Any, *, copy: bool = True) -> Any:
            return np.array(value) if copy else np.asarray(value)

    module: Any = importlib.import_module("mindspore.dataset.engine.datasets_user_defined")
    module.np = Lenient("numpy")


FEATURE = Feature(
    name="dataset_runs_with_numpy_2",
    question="Does mindspore.dataset read Python numbers with numpy 2?",
    matters=(
        "2.10.0's metadata lets an installer choose numpy 2. Each row that is not an array already goes through "
        "np.array(row, copy=False), which numpy 2 refuses: datasets of numbers, lists or tuples, map functions that "
        "return numbers, and per-batch functions fail at the first row."
    ),
    harm=Harm.FAILS,
    symptom="Exception thrown from user defined Python function in dataset; ValueError: Unable to avoid copy while",
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Install numpy<2 beside MindSpore (pip install 'numpy<2'), or let every row and function return arrays.",
        cost="no package that needs numpy 2 in the same environment",
        harmless_when=harmless_with_numpy_1,
    ),
    groups=("data", "install"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/dataset/engine/datasets_user_defined.py: _convert_row",),
    counterproof=counterproof,
)

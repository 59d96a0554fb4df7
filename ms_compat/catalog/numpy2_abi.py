"""Whether MindSpore's compiled libraries can call into numpy 2."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.probing.installed import harmless_with_numpy_1, major
from ms_compat.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterator


#: The module from which numpy's headers take the C-API: numpy 2's look in the first place and then in the second,
#: numpy 1's in the second only. pybind11 leaves "numpy._core" alone in every library, so that says nothing.
_NUMPY_2 = b"numpy._core._multiarray_umath"
_NUMPY_1 = b"numpy.core._multiarray_umath"


def _libraries() -> Iterator[str]:
    """The compiled parts of MindSpore, the one that has called numpy's C-API since 2.8 first; imports nothing."""
    import importlib.util

    spec = importlib.util.find_spec("mindspore")
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        inner = os.path.join(root, "lib")
        found = [os.path.join(root, file) for file in sorted(os.listdir(root)) if file.startswith("_c_expression")]
        if os.path.isdir(inner):
            found += [os.path.join(inner, file) for file in sorted(os.listdir(inner)) if "mindspore" in file]
        likely = ("libmindspore_common", "libmindspore_frontend")
        yield from sorted(found, key=lambda path: not os.path.basename(path).startswith(likely))


def _headers(library: str) -> int | None:
    """The major version of the numpy headers a library was compiled with, None where it does not use the C-API."""
    import mmap

    if os.path.getsize(library) == 0:
        return None
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(_NUMPY_2) >= 0:
            return 2
        return 1 if content.find(_NUMPY_1) >= 0 else None


def inspect() -> Finding:
    """Read off the libraries which numpy's headers they are compiled with."""
    for library in _libraries():
        headers = _headers(library)
        if headers is not None:
            name = os.path.basename(library)
            return Finding(
                headers >= 2,
                f"{name} is compiled with the headers of numpy {headers}",
                {"library": name, "compiled_for_numpy": headers},
            )
    raise RuntimeError("no compiled library of MindSpore calls numpy's C-API under a name known here")


def probe() -> Finding:
    """Call into numpy 2 where it is installed; with numpy 1 read off the libraries what they are compiled for."""
    import numpy as np

    if major(np.__version__) < 2:
        return inspect()  # what cannot be run here can still be read off the libraries
    import mindspore

    from ms_compat.probing.workloads import first_line, tensor

    errors: dict[str, str | None] = {"first_product": None, "bfloat16_asnumpy": None}
    x = tensor(1.0)
    try:
        _ = x * x  # fails once in a process
    except (SystemError, ImportError) as error:
        errors["first_product"] = first_line(error)
    try:
        mindspore.Tensor([1.0], mindspore.bfloat16).asnumpy()  # fails every time
    except (TypeError, ImportError, SystemError) as error:
        errors["bfloat16_asnumpy"] = first_line(error)
    failed = [call for call, error in errors.items() if error is not None]
    return Finding(
        not failed,
        f"with numpy {np.__version__} {len(failed)} of {len(errors)} calls into the compiled libraries fail"
        + (f" ({', '.join(failed)})" if failed else ""),
        {"numpy": np.__version__, **errors},
    )


def counterproof() -> None:
    """Let a library that is compiled with numpy 2's headers stand in: one of scipy, which MindSpore requires."""
    import importlib.util
    import tempfile

    spec, scipy = importlib.util.find_spec("mindspore"), importlib.util.find_spec("scipy")
    assert spec is not None
    assert scipy is not None
    for root in scipy.submodule_search_locations or ():
        for folder, _, files in os.walk(root):
            for file in files:
                library = os.path.join(folder, file)
                if file.endswith(".so") and _headers(library) == 2:
                    stand_in = tempfile.mkdtemp()
                    os.symlink(library, os.path.join(stand_in, "_c_expression.so"))
                    spec.submodule_search_locations = [stand_in]
                    return
    raise RuntimeError("no library of the installed scipy is compiled with numpy 2's headers")


FEATURE = Feature(
    name="numpy2_abi",
    question="Do the compiled libraries work with numpy 2?",
    matters=(
        "2.10.0's metadata lets an installer choose numpy 2, but its libraries are compiled for numpy 1. Import and "
        "most operations work, so it is found out late: the first product of a process fails, and with it the first "
        "gradient, and whatever turns bfloat16 into numpy fails always."
    ),
    harm=Harm.FAILS,
    symptom=(
        "A module that was compiled using NumPy 1.x cannot be run in NumPy 2.x; SystemError 'returned a result with "
        "an exception set' at the first t * t; TypeError from a bfloat16 asnumpy()"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action="Install numpy<2 beside MindSpore: pip install 'numpy<2'.",
        cost="no package that needs numpy 2 in the same environment",
        harmless_when=harmless_with_numpy_1,
    ),
    groups=("install",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=(
        "numpy 2.0 migration guide: extension modules compiled for numpy 1",
        "mindspore 2.10.0 wheel metadata: Requires-Dist numpy>=1.25.0",
    ),
    counterproof=counterproof,
    inspect=inspect,
)

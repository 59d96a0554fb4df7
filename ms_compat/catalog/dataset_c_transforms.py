"""mindspore.dataset.vision.c_transforms, which 2.8 took away."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span

_MODULE = "mindspore.dataset.vision.c_transforms"


def probe() -> Finding:
    """Flip a picture of two pixels with it."""
    import numpy as np

    from ms_compat.probing.names import api

    picture: Any = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
    flipped = api(_MODULE, "HorizontalFlip")()(picture)
    right = bool((flipped == picture[:, ::-1]).all())
    return Finding(right, f"{_MODULE} {'flips' if right else 'does not flip'} a picture", {"flipped": right})


def counterproof() -> None:
    """Take the module away where it is, and put it back where it is not."""
    import importlib
    import sys

    vision = importlib.import_module("mindspore.dataset.vision")
    try:
        importlib.import_module(_MODULE)
    except ModuleNotFoundError:
        sys.modules[_MODULE] = vision
    else:
        del sys.modules[_MODULE].HorizontalFlip


FEATURE = Feature(
    name="dataset_c_transforms",
    question="Is mindspore.dataset.vision.c_transforms there?",
    matters=(
        "The transforms of pictures had two modules, c_transforms and py_transforms, deprecated since 1.8 and gone in "
        "2.8. MindFormers' BatchResize still reaches for c_transforms, and so do older models and tutorials."
    ),
    harm=Harm.MOVED,
    symptom=(
        "AttributeError: module 'mindspore.dataset.vision' has no attribute 'c_transforms'; ModuleNotFoundError: No "
        "module named 'mindspore.dataset.vision.c_transforms'"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Take the same names from mindspore.dataset.vision and mindspore.dataset.transforms, which are there in "
            "every release: mindspore.dataset.vision.Resize instead of vision.c_transforms.Resize."
        ),
        cost="nothing",
    ),
    groups=("moved_names", "data"),
    spans=(Span(">=2.7.2,<2.8", True), Span(">=2.8,<2.11", False)),
    references=(
        "mindspore/dataset/vision/__init__.py",
        "mindformers/dataset/transforms/vision_transforms.py: BatchResize",
    ),
    counterproof=counterproof,
)

"""save_checkpoint goes by the names of parameters, load_state_dict by the names of attributes."""

from __future__ import annotations

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Save a batch normalisation with save_checkpoint and load the file with load_state_dict."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.names import weight_file

    layer = nn.BatchNorm1d(1)
    with weight_file("layer.ckpt") as path:
        mindspore.save_checkpoint(layer, path)
        saved = mindspore.load_checkpoint(path)
    error_text = None
    try:
        layer.load_state_dict(saved)
    except RuntimeError as error:
        if "Missing key" not in str(error):
            raise
        error_text = " ".join(str(error).split())
    wanted = set(layer.state_dict())
    return Finding(
        error_text is None,
        f"{len(wanted - set(saved))} of {len(wanted)} names that load_state_dict of nn.BatchNorm1d wants are not in "
        "the file that save_checkpoint wrote",
        {"error": error_text, "wanted": len(wanted), "missing": len(wanted - set(saved))},
    )


def counterproof() -> None:
    """Save by the names of attributes."""
    from ms_compat.probing.names import save_by_attribute

    save_by_attribute()


FEATURE = Feature(
    name="checkpoint_names_fit_state_dict",
    question="Can load_state_dict load what save_checkpoint wrote?",
    matters=(
        "A Parameter has a name of its own besides the attribute that holds it. parameters_dict(), save_checkpoint and "
        "load_param_into_net go by the first, state_dict() and load_state_dict() by the second. Where they differ, as "
        "in nn.BatchNorm, one side does not find what the other has saved; with strict=False it is left as it was."
    ),
    harm=Harm.FAILS,
    symptom='RuntimeError: Error(s) in loading state_dict: Missing key(s) in state_dict: "moving_mean"',
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Stay with one pair: save_checkpoint(net) with load_param_into_net, or a list made of net.state_dict() "
            "with load_state_dict. Give a Parameter the name of its attribute, or no name."
        ),
        cost="files of the two pairs cannot be exchanged without a table of names",
    ),
    groups=("checkpoint_files", "parameters"),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/nn/cell.py: Cell.state_dict, Cell.parameters_dict", "mindspore/nn/layer/normalization.py"),
    counterproof=counterproof,
)

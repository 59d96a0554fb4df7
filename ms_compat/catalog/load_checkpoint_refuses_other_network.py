"""load_checkpoint(file, net) loads what fits by name and leaves the rest as it was initialised."""

from __future__ import annotations

from typing import Any

from ms_compat.feature import Feature, Finding, Harm, Path, Remedy
from ms_compat.span import Span


def probe() -> Finding:
    """Load a file that has one of a network's two parameters and one that it does not have, with strict_load."""
    import mindspore
    from mindspore import nn

    from ms_compat.probing.names import weight_file
    from ms_compat.probing.workloads import first_line, parameter

    class Network(nn.Cell):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.first = parameter(0.0, name="first")
            self.second = parameter(0.0, name="second")

    network = Network()
    with weight_file("network.ckpt") as path:
        values = [{"name": name, "data": parameter(1.0, name=name)} for name in ("first", "third")]
        mindspore.save_checkpoint(values, path)
        with open(path, "rb") as file:
            assert b"third" in file.read()  # nothing is wrong with the file
        try:
            mindspore.load_checkpoint(path, network, strict_load=True)
        except RuntimeError as error:
            if "second" not in str(error) and "not loaded" not in str(error):
                raise
            return Finding(True, "a parameter that the file lacks is an error", {"error": first_line(error)})
    left = float(network.second.asnumpy()[0])
    return Finding(
        left == 1.0,
        f"strict_load=True raises nothing and leaves a parameter that the file lacks at its initial {left}",
        {"error": None, "value_left": left},
    )


def counterproof() -> None:
    """Raise where something was not loaded."""
    import mindspore

    def load(path: str, network: Any, strict_load: bool) -> None:
        not_loaded, unused = mindspore.load_param_into_net(network, read(path), strict_load=strict_load)
        if not_loaded or unused:
            raise RuntimeError(f"not loaded: {not_loaded}; not used: {unused}")

    read = mindspore.load_checkpoint
    mindspore.load_checkpoint = load


FEATURE = Feature(
    name="load_checkpoint_refuses_other_network",
    question="Does load_checkpoint(file, net, strict_load=True) raise where a parameter of net is not in the file?",
    matters=(
        "strict_load speaks of dtypes only. A renamed layer, a lost shard or the file of another model leaves "
        "parameters at their random initial values, and a run that is thought to be resumed or fine-tuned starts "
        "partly from scratch. There is a warning in the log, and load_checkpoint does not return what it left out."
    ),
    harm=Harm.WRONG,
    symptom=(
        "parameters in the 'net' are not loaded, because they are not in the 'parameter_dict' (a warning); a resumed "
        "run starts with too high a loss"
    ),
    probe=probe,
    remedy=Remedy(
        path=Path.WARN,
        action=(
            "Write not_loaded, unused = load_param_into_net(net, load_checkpoint(path)), and raise unless both are "
            "empty."
        ),
        cost="nothing; what is left out on purpose has to be named",
    ),
    groups=("checkpoint_files",),
    spans=(Span(">=2.7.2,<2.11", False),),
    references=("mindspore/train/serialization.py: load_checkpoint, load_param_into_net",),
    counterproof=counterproof,
)

"""Neural detectors of PyOD and ctad: weights by safetensors, the rest like other objects.

A network is rebuilt by the detector's own code, without values, and then gets its weights. So a
model needs no more memory than its file. `NETWORKS` has one entry for each base class of neural
detectors; subclasses use it, too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError, MissingPackageError
from ._object_checks import parts_of

if TYPE_CHECKING:
    from ._reader import Reader
    from ._writer import Writer

WEIGHTS = "_ctad_weights"  # in files, the attribute of a detector that names its weights
CENTRE = "c_"  # of DeepSVDD: a tensor beside the network


@dataclass(frozen=True)
class Network:
    """How the network of a detector is taken out and put back.

    Attributes
    ----------
    attribute : str
        The attribute of the detector that is the network.
    build : callable
        Makes an untrained network for the detector.
    set_up : callable
        Sets the other attributes that are not saved.
    not_saved : tuple of str
        Other attributes that are objects of PyTorch.
    device : callable
        The device that the network goes to.
    """

    attribute: str
    build: Callable[[Any], Any]
    set_up: Callable[[Any], None] = lambda detector: None
    not_saved: tuple[str, ...] = ()
    device: Callable[[Any], Any] = lambda detector: getattr(detector, "device", "cpu")


def split_networks(value: Any, writer: Writer) -> Any:
    """The object with its networks replaced by the names of their weights."""
    stubs = {
        id(part): _without_network(part, network, writer)
        for part in parts_of(value)
        if (network := _network_of(part)) is not None
    }
    # deepcopy takes objects that are in this memo from there.
    return copy.deepcopy(value, stubs) if stubs else value


def load_networks(value: Any, reader: Reader) -> None:
    """Rebuild the networks in an object."""
    for part in parts_of(value):
        network = _network_of(part)
        if network is not None:
            network.set_up(part)
            if hasattr(part, WEIGHTS):
                _load_weights(part, network, reader.entry(vars(part).pop(WEIGHTS), "weights/"))


def _network_of(part: Any) -> Network | None:
    names = (f"{base.__module__}.{base.__name__}" for base in type(part).__mro__)
    return next((NETWORKS[name] for name in names if name in NETWORKS), None)


def _without_network(detector: Any, network: Network, writer: Writer) -> Any:
    stub = copy.copy(detector)
    module = vars(stub).get(network.attribute)
    for attribute in (network.attribute, *network.not_saved):
        if not isinstance(vars(stub).get(attribute), str):  # a device may be given by its name
            vars(stub).pop(attribute, None)
    if module is not None:
        try:
            from safetensors.torch import save
        except ImportError as error:
            raise MissingPackageError(
                "saving a neural detector needs safetensors: pip install 'ctad[deep]'"
            ) from error

        weights = dict(getattr(module, "_orig_mod", module).state_dict())  # also if compiled
        if hasattr(detector, CENTRE):
            weights[CENTRE] = detector.c_
        content = save({key: tensor.cpu().contiguous() for key, tensor in weights.items()})
        setattr(stub, WEIGHTS, writer.entry("weights/{}.safetensors", content))
    return stub


def _load_weights(detector: Any, network: Network, content: bytes) -> None:
    import torch
    from safetensors.torch import load

    weights = load(content)
    with torch.device("meta"):  # shapes only
        module = network.build(detector)
    if CENTRE in network.not_saved:
        detector.c_ = weights.pop(CENTRE)
    expected = module.state_dict()
    if any(weights[key].dtype != tensor.dtype for key, tensor in expected.items()):
        raise InputError("the weights have the wrong precision")
    module.load_state_dict(weights, assign=True)
    module.eval()
    setattr(detector, network.attribute, module.to(network.device(detector)))


def _build_auto_encoder(detector: Any) -> Any:
    detector.build_model()
    return detector.model


def _set_up_auto_encoder(detector: Any) -> None:
    import torch
    from pyod.utils.torch_utility import get_criterion_by_name

    detector.criterion = get_criterion_by_name("mse")
    if not isinstance(vars(detector).get("device"), str):
        detector.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def _build_deep_svdd(detector: Any) -> Any:
    from pyod.models.deep_svdd import InnerDeepSVDD

    return InnerDeepSVDD(
        detector.n_features,
        use_ae=detector.use_ae,
        hidden_neurons=detector.hidden_neurons,
        hidden_activation=detector.hidden_activation,
        output_activation=detector.output_activation,
        dropout_rate=detector.dropout_rate,
        l2_regularizer=detector.l2_regularizer,
    )


def _set_up_deep_svdd(detector: Any) -> None:
    detector.model_ = detector.best_model_dict = None


_AUTO_ENCODER = Network(
    "model", _build_auto_encoder, _set_up_auto_encoder, ("optimizer", "criterion", "device")
)
_DEEP_SVDD = Network("model_", _build_deep_svdd, _set_up_deep_svdd, ("best_model_dict", CENTRE))
_OWN = Network(
    "network_",
    lambda detector: detector.empty_network(),
    device=lambda detector: detector.torch_device,
)

NETWORKS = {
    "pyod.models.auto_encoder.AutoEncoder": _AUTO_ENCODER,
    "pyod.models.deep_svdd.DeepSVDD": _DEEP_SVDD,
    "ctad.detectors._neural_detector.NeuralDetector": _OWN,
}

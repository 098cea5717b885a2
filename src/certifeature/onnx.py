"""Converters to ONNX, which ``import certifeature.onnx`` registers with skl2onnx.

After that, ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take every selector of this
package, alone or in a pipeline. The graph does what `transform` does: it picks the chosen columns
in the order of X and multiplies them by their scales, in the type of X where that is single or
double precision. Scaled integers become double precision, and columns without scales keep their
type. Unlike `transform`, the graph does not refuse NaN and infinity.

Needs the extra ``onnx``: ``pip install 'certifeature[onnx]'``.

Examples
--------
>>> import numpy as np
>>> import onnxruntime
>>> import skl2onnx
>>> import certifeature.onnx
>>> from certifeature import BSSSelector
>>> from certifeature.datasets import make_relevant_features
>>> X, y = make_relevant_features(200, 1000, 40, random_state=0)
>>> selector = BSSSelector(30, random_state=0).fit(X, y)
>>> graph = skl2onnx.to_onnx(selector, X[:1]).SerializeToString()
>>> session = onnxruntime.InferenceSession(graph)
>>> (columns,) = session.run(None, {"X": X})
>>> bool((columns == selector.transform(X)).all())
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin

from certifeature import selectors

try:
    from skl2onnx import update_registered_converter
    from skl2onnx.algebra.onnx_ops import OnnxCast, OnnxGather, OnnxMul
    from skl2onnx.common import data_types
except ImportError as error:
    needed = "conversion to ONNX needs skl2onnx: pip install 'certifeature[onnx]'."
    raise ImportError(needed) from error

__all__: list[str] = []


def _columns_and_scales(selector: Any) -> tuple[NDArray[np.intp], NDArray[np.float64] | None]:
    """Return the columns that `transform` picks, in the order of X, and their scales if any."""
    if isinstance(selector, selectors.LPSVMSelector):
        return np.sort(selector.indices_), None
    return selector._columns_and_scales()


def _declare_output(operator: Any) -> None:
    """Check the input of a selector, and declare its output."""
    selector = operator.raw_operator
    name = type(selector).__name__
    if len(operator.inputs) != 1:
        raise RuntimeError(
            f"{name} is given {len(operator.inputs)} inputs and needs one that holds all columns; "
            "declare one, or put a ColumnTransformer before it."
        )
    (given,) = operator.inputs
    n_given = given.get_second_dimension()
    if n_given is not None and n_given != selector.n_features_in_:
        raise RuntimeError(
            f"the input has {n_given} columns, but {name} was fitted to "
            f"{selector.n_features_in_}; declare as many."
        )
    columns, scales = _columns_and_scales(selector)
    if not len(columns):
        raise RuntimeError(f"{name} chose no features, so there is nothing to convert.")
    floats = data_types.FloatTensorType | data_types.DoubleTensorType
    keeps_type = scales is None or isinstance(given.type, floats)
    output_type = type(given.type) if keeps_type else data_types.DoubleTensorType
    operator.outputs[0].type = output_type([given.get_first_dimension(), len(columns)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes that pick the columns, convert them to the type of the output, and scale."""
    columns, scales = _columns_and_scales(operator.raw_operator)
    given, (result,), opset = operator.inputs[0], operator.outputs, container.target_opset
    if scales is None:
        graph = OnnxGather(given, columns, axis=1, op_version=opset, output_names=[result])
    else:
        proto_type = data_types.guess_proto_type(result.type)
        picked = OnnxGather(given, columns, axis=1, op_version=opset)
        typed = OnnxCast(picked, to=proto_type, op_version=opset)
        factors = scales.astype(data_types.guess_numpy_type(result.type))
        graph = OnnxMul(typed, factors, op_version=opset, output_names=[result])
    graph.add_to(scope, container)


for _name in selectors.__all__:
    _class = getattr(selectors, _name)
    if issubclass(_class, SelectorMixin):
        update_registered_converter(_class, f"Certifeature{_name}", _declare_output, _convert)

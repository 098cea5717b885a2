"""Selectors and certificates on anything that is finite: an answer, or a clean error."""

import numpy as np

from certifeature import (
    BSSSelector,
    LeverageScoreSelector,
    LPSVMSelector,
    RandomSelector,
    RRQRSelector,
    certify,
)
from soak import library
from soak.data import draw_case, draw_selection, draw_svm, in_other_clothes
from soak.verdict import Violation

_KINDS = (BSSSelector, BSSSelector, LeverageScoreSelector, RRQRSelector, RandomSelector)
# Scales may take larger values out of range.
_LARGEST = 1e100


def selectors_survive(rng):
    """A fit gives distinct features, positive scales and finite columns, or a clean ValueError."""
    case = draw_case(rng, (1, 40), (1, 60), (1, 6))
    X = in_other_clothes(rng, case.X)
    n_rows, n_features = X.shape
    if rng.random() < 0.15:
        selector, options = LPSVMSelector(float(10 ** rng.uniform(-8, 8))), {}
    else:
        selector, options = _draw_selector(rng, case, n_features)
    selector.fit(X, case.y, **options)
    indices = selector.indices_
    scales = getattr(selector, "scales_", np.ones(len(indices)))
    if len(np.unique(indices)) < len(indices) or not np.isin(indices, np.arange(n_features)).all():
        raise Violation(f"{selector!r}: features {indices.tolist()}")
    if not np.isfinite(scales).all() or (scales <= 0).any():
        raise Violation(f"{selector!r}: scales {scales.tolist()}")
    if not len(indices):
        return
    reduced = selector.transform(X)
    if reduced.shape != (n_rows, len(indices)):
        raise Violation(f"{selector!r}: {len(indices)} features, but {reduced.shape}")
    values = reduced.data if hasattr(reduced, "toarray") else reduced
    if np.abs(case.X).max() < _LARGEST and not np.isfinite(values).all():
        raise Violation(f"{selector!r}: transform gives values that are not finite")
    if hasattr(selector, "certificate_"):
        _check_certificate(selector.certificate_)


def certify_survives(rng):
    """Any selection gets a certificate whose numbers are in order, or a clean ValueError."""
    case = draw_case(rng, (2, 40), (1, 60), (1, 6))
    X = in_other_clothes(rng, case.X)
    indices, weights = draw_selection(rng, X.shape[1])
    estimator = draw_svm(rng, case.y, wild=True) if rng.random() < 0.7 else None
    rows = ["support", "all"][rng.integers(2)]
    y = None if rows == "all" and rng.random() < 0.3 else case.y
    options = {"weights": weights, "estimator": estimator, "rows": rows}
    certificate = certify(X, y, indices, realised=bool(rng.random() < 0.8), **options)
    _check_certificate(certificate)
    realised = certificate.realised
    # Radii of many rows are not computed.
    ratio = None if realised is None else realised.radius_ratio
    if ratio is not None and not 0 <= ratio < np.inf:
        raise Violation(f"radii {realised.radius_full} and {realised.radius_selected}")


def _draw_selector(rng, case, n_features):
    kind = _KINDS[rng.integers(len(_KINDS))]
    supervised = bool(rng.random() < 0.6)
    options = {
        "supervised": supervised,
        "estimator": draw_svm(rng, case.y, wild=True) if rng.random() < 0.6 else None,
        "rescale": ["common", "each", False][rng.integers(3)],
        "epsilon": float(rng.uniform(0.05, 0.95)),
        "random_state": int(rng.integers(1000)),
    }
    if kind is BSSSelector and supervised:
        options["guarantee"] = "full" if rng.random() < 0.2 else "support"
        options["order"] = library.ORDERS[rng.integers(len(library.ORDERS))]
        if options["order"] != "cover" and rng.random() < 0.5:
            options["trust"] = float(rng.choice([0, 0.5, 1]))
    if rng.random() < 0.2:
        options["basis"] = ["truncated", "sketch"][rng.integers(2)]
        options["n_components"] = int(rng.integers(1, 10))
    size = "certified" if rng.random() < 0.3 else int(rng.integers(1, n_features + 3))
    weights = {}
    if rng.random() < 0.3:
        weights["sample_weight"] = rng.exponential(size=len(case.y)) * (
            rng.random(len(case.y)) < 0.8
        )
    return kind(size, **options), weights


def _check_certificate(certificate):
    soft = certificate.regularised
    pairs = [(certificate.lambda_min, certificate.lambda_max)]
    pairs += [] if soft is None else [(soft.lambda_min, soft.lambda_max)]
    for low, high in pairs:
        if not 0 <= low <= high < np.inf:
            raise Violation(f"eigenvalues from {low} to {high}")
    if not str(certificate) or "nan" in str(certificate):
        raise Violation(f"a certificate that says {str(certificate)!r}")

"""What the errata page says of the paper, seen to hold."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from certifeature import BSSSelector, LeverageScoreSelector
from certifeature.datasets import make_relevant_features
from certifeature.sparsify import bss


def test_scale_must_be_the_root_of_the_weight(rng):
    """Erratum 1: with 1/√t in place of √t the eigenvalues miss the interval by far."""
    vectors = np.linalg.qr(rng.standard_normal((500, 10)))[0]
    sample = bss(vectors, 40)
    factor = np.sqrt((1 - 0.5) / 40)
    wrong = factor / (sample.scales / factor)
    chosen = vectors[sample.indices] * wrong[:, None]
    assert np.linalg.eigvalsh(chosen.T @ chosen).max() < 1e-3


def test_a_feature_that_carries_a_direction_alone_is_picked_again(rng):
    """Erratum 7: repeats are forced although there are far more features than picks."""
    others = np.linalg.qr(rng.standard_normal((1999, 3)))[0]
    vectors = np.block([[np.ones((1, 1)), np.zeros((1, 3))], [np.zeros((1999, 1)), others]])
    sample = bss(vectors, 120)
    assert len(sample.indices) < 120
    # The first direction of M is feature 0 alone; the proven interval holds for it.
    share = sample.scales[sample.indices.tolist().index(0)] ** 2
    ratio = np.sqrt(4 / 120)
    assert (1 - ratio) ** 2 <= share <= (1 + ratio) ** 2


@pytest.mark.parametrize("n_relevant", [40, 50])
@pytest.mark.parametrize(
    "selector",
    [
        BSSSelector(30, order="leverage", estimator=LinearSVC(dual=True, random_state=0)),
        LeverageScoreSelector(30, random_state=0),
    ],
)
def test_table_1_does_not_follow_from_the_algorithms(selector, n_relevant):
    """Erratum 8: most chosen features are noise."""
    noise = [
        np.mean(selector.fit(*data).indices_ >= n_relevant)
        for data in (
            make_relevant_features(200, 1000, n_relevant, random_state=seed) for seed in range(5)
        )
    ]
    assert np.mean(noise) > 0.5

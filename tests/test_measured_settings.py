"""The measurement behind the defaults measures BSSSelector itself."""

import numpy as np
import pytest
from decide.own import SETTINGS, Fits

from certifeature.datasets import make_relevant_features


@pytest.mark.parametrize("name", SETTINGS)
def test_shared_fits_choose_what_the_selector_chooses(name):
    X, y = make_relevant_features(60, 300, 10, random_state=0)
    fits = Fits(X, y, C=1.0)
    for r in (20, 90):
        selector = fits.selector(r, SETTINGS[name]).fit(X, y)
        choice = fits.choose(r, SETTINGS[name])
        np.testing.assert_array_equal(choice.indices, selector.indices_)
        np.testing.assert_array_equal(choice.scales, selector.scales_)
        certificate = fits.certificate(choice, choice.scales)
        assert certificate.lambda_min == selector.certificate_.lambda_min
        assert certificate.regularised == selector.certificate_.regularised

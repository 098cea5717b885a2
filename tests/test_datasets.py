"""The data sets: what they promise."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import LinearSVC

from certifeature.datasets import load_docstrings, make_relevant_features


@pytest.fixture(scope="module")
def bunch():
    return load_docstrings()


@pytest.fixture(scope="module")
def three_classes():
    return load_docstrings(packages=["sklearn", "numpy", "scipy"], weighting="counts")


class TestDocstringsShape:
    def test_is_wide_and_large(self, bunch):
        n_documents, n_words = bunch.data.shape
        assert (n_documents, n_words) == (2005, 7419)

    def test_data_are_canonical_csr_of_floats(self, bunch):
        assert issparse(bunch.data)
        assert bunch.data.format == "csr"
        assert bunch.data.dtype == np.float64
        assert bunch.data.has_canonical_format
        assert (bunch.data.data > 0).all()

    def test_attributes_agree_in_length(self, bunch):
        n_documents, n_words = bunch.data.shape
        assert bunch.target.shape == bunch.documents.shape == (n_documents,)
        assert bunch.feature_names.shape == (n_words,)
        assert bunch.target.dtype == np.int64
        assert bunch.documents.dtype == object

    def test_description_gives_sizes_and_versions(self, bunch):
        assert "2005 documents, 7419 words" in bunch.DESCR
        assert "sklearn 1.9.1: 486 documents" in bunch.DESCR

    def test_no_class_is_rare(self, bunch, three_classes):
        for data in (bunch, three_classes):
            shares = np.bincount(data.target) / data.target.size
            assert shares.size == data.target_names.size
            assert shares.min() > 0.1

    def test_three_classes(self, three_classes):
        assert three_classes.target_names.tolist() == ["numpy", "scipy", "sklearn"]
        assert set(three_classes.target) == {0, 1, 2}


class TestDocstringsDocuments:
    def test_target_is_the_package_of_the_object(self, bunch):
        packages = [name.partition(".")[0] for name in bunch.documents]
        assert bunch.target_names[bunch.target].tolist() == packages

    def test_names_are_unique_and_sorted(self, three_classes):
        names = three_classes.documents.tolist()
        assert names == sorted(set(names))

    def test_names_are_public_and_not_tests(self, three_classes):
        for name in three_classes.documents:
            parts = name.split(".")
            assert not any(part.startswith("_") for part in parts)
            assert not {"test", "tests", "testing", "externals"} & set(parts)


class TestDocstringsWords:
    def test_words_are_runs_of_lower_case_letters(self, three_classes):
        for word in three_classes.feature_names:
            assert len(word) >= 3
            assert word.isascii()
            assert word.isalpha()
            assert word.islower()

    def test_no_word_names_a_package(self, three_classes):
        for name in ("numpy", "scipy", "sklearn", "scikit"):
            assert not [word for word in three_classes.feature_names if name in word]

    def test_each_word_is_in_two_documents_or_more(self, three_classes):
        assert three_classes.data.getnnz(axis=0).min() >= 2

    def test_counts_are_whole_and_tfidf_rows_have_unit_length(self, bunch, three_classes):
        assert np.array_equal(three_classes.data.data, np.round(three_classes.data.data))
        lengths = np.sqrt(bunch.data.power(2).sum(axis=1))
        np.testing.assert_allclose(lengths, 1.0)


class TestDocstringsCalls:
    def test_two_calls_agree(self, bunch):
        again = load_docstrings(packages=("sklearn", "scipy"))
        assert (again.data != bunch.data).nnz == 0
        assert np.array_equal(again.target, bunch.target)
        assert np.array_equal(again.feature_names, bunch.feature_names)
        assert np.array_equal(again.documents, bunch.documents)

    def test_pair_is_the_data_and_target_of_the_bunch(self, bunch):
        X, y = load_docstrings(return_X_y=True)
        assert (bunch.data != X).nnz == 0
        assert np.array_equal(y, bunch.target)

    def test_a_linear_svm_learns_the_task_but_not_without_error(self, three_classes):
        X = TfidfTransformer().fit_transform(three_classes.data)
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        error = 1 - cross_val_score(LinearSVC(), X, three_classes.target, cv=folds).mean()
        assert 0 < error < 0.2

    @pytest.mark.parametrize(
        "packages", [(), ("scipy",), ("scipy", "scipy"), ("scipy", "pandas"), "scipy"]
    )
    def test_bad_packages(self, packages):
        with pytest.raises(ValueError, match=r"packages=.*'numpy', 'scipy', 'sklearn'.*Give"):
            load_docstrings(packages=packages)

    def test_bad_packages_given_as_a_string_are_shown_whole(self):
        with pytest.raises(ValueError, match="'scipy,sklearn'"):
            load_docstrings(packages="scipy,sklearn")

    def test_bad_weighting(self):
        with pytest.raises(ValueError, match="one of 'counts', 'tfidf'; got 'idf'"):
            load_docstrings(weighting="idf")


class TestMakeRelevantFeatures:
    def test_shapes_and_types(self):
        X, y = make_relevant_features(7, 11, 3, random_state=0)
        assert X.shape == (7, 11)
        assert X.dtype == np.float64
        assert y.shape == (7,)
        assert y.dtype == np.int64
        assert set(y) <= {-1, 1}

    def test_default_sizes(self):
        X, y = make_relevant_features(random_state=0)
        assert X.shape == (200, 1000)
        assert y.shape == (200,)

    def test_moments(self):
        n_samples, n_relevant = 4000, 5
        X, y = make_relevant_features(n_samples, 12, n_relevant, random_state=0)
        tolerance = 5 / np.sqrt(n_samples)
        assert abs(y.mean()) < tolerance
        signed = y[:, np.newaxis] * X
        means = np.r_[-np.arange(1, n_relevant + 1), np.zeros(12 - n_relevant)]
        np.testing.assert_allclose(signed.mean(axis=0), means, atol=tolerance)
        np.testing.assert_allclose(signed.std(axis=0), 1.0, atol=tolerance)

    def test_columns_are_uncorrelated_within_a_class(self):
        X, y = make_relevant_features(4000, 8, 4, random_state=1)
        correlations = np.corrcoef(X[y == 1], rowvar=False)
        assert abs(correlations - np.eye(8)).max() < 0.12

    def test_a_seed_gives_the_same_data(self):
        X, y = make_relevant_features(20, 30, 4, random_state=3)
        X_again, y_again = make_relevant_features(20, 30, 4, random_state=3)
        X_other, _ = make_relevant_features(20, 30, 4, random_state=4)
        assert np.array_equal(X, X_again)
        assert np.array_equal(y, y_again)
        assert not np.array_equal(X, X_other)

    def test_a_generator_moves_on(self):
        rng = np.random.RandomState(0)
        X, _ = make_relevant_features(20, 30, 4, random_state=rng)
        X_next, _ = make_relevant_features(20, 30, 4, random_state=rng)
        assert not np.array_equal(X, X_next)

    def test_smallest_sizes_and_all_relevant(self):
        X, y = make_relevant_features(1, 1, 1, random_state=0)
        assert X.shape == (1, 1)
        assert y.shape == (1,)

    @pytest.mark.parametrize("name", ["n_samples", "n_features", "n_relevant"])
    @pytest.mark.parametrize("value", [0, -1, 2.5, "many", None, True])
    def test_bad_sizes(self, name, value):
        with pytest.raises(ValueError, match=f"{name} must be a positive integer.*; got {value!r}"):
            make_relevant_features(**{name: value})

    def test_more_relevant_features_than_features(self):
        with pytest.raises(ValueError, match=r"n_relevant .* up to 8, the number of features"):
            make_relevant_features(10, 8, 9)

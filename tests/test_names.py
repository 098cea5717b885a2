"""What names of columns say: identifiers, codes of circumstance, and what spreadsheets change."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from certifeature.rows.names import (
    CIRCUMSTANCE,
    IDENTIFIER,
    as_changed,
    changed_names,
    not_features,
    role_of,
)

FEATURES = sorted((Path(__file__).resolve().parents[2] / "shared").glob("data/*/features.txt.gz"))
WHOLE = np.random.default_rng(0).integers(1, 9, (40, 1)).astype(float)


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "IDs", "PatientID", "patient_id", "PATIENTID", "patientid", "Patients",
     "subject-no", "Sample Name", "sampleId", "case number", "CaseNo", "Barcode",
     "GSM.accession", "rowID"],
)  # fmt: skip
def test_identifiers(name):
    assert role_of(name) == IDENTIFIER
    assert not_features(WHOLE, [name]) == {0: IDENTIFIER}


@pytest.mark.parametrize(
    "name",
    ["batch", "Batches", "BATCH_no", "PlateNumber", "run", "lanes", "array-id", "scanner",
     "operatorName", "site", "Centre", "center", "hospital", "institutions", "batch_2"],
)  # fmt: skip
def test_codes_of_circumstance(name):
    assert not_features(WHOLE, [name]) == {0: CIRCUMSTANCE}


@pytest.mark.parametrize(
    "name",
    ["ID1", "ID2", "ID3", "Id2", "IDH1", "IDS", "Ids", "RUNX1", "RUNDC3B", "MIDN", "SITE1",
     "PLATE1", "CASP3", "CASE", "ARRAY2", "SAMPLE3", "body mass index", "patient age",
     "sample_type", "sample entropy", "grid", "video", "sitemap", "dispatch", "overrun",
     "ident", "gene"],
)  # fmt: skip
def test_a_word_inside_another_or_joined_to_a_digit_is_none(name):
    assert not_features(WHOLE, [name]) == {}


def test_values_with_decimals_are_measured():
    assert not_features(WHOLE + 0.5, ["sample"]) == {}
    assert not_features(WHOLE + 0.5, ["site"]) == {}


def test_text_is_none_of_the_features_whatever_stands_in_its_place():
    assert not_features(np.full((40, 1), np.nan), ["site"], texts=[0]) == {0: CIRCUMSTANCE}
    assert not_features(np.full((40, 1), np.nan), ["town"], texts=[0]) == {}


def test_nothing_is_held_out_for_being_unique():
    counts = np.random.default_rng(0).permutation(10_000)[:40, None].astype(float)
    assert not_features(counts, ["TP53"]) == {}


def test_whole_numbers_that_rise_from_row_to_row_number_them():
    rising = 1000 + np.cumsum(WHOLE, axis=0)
    assert not_features(rising, ["x"]) == {0: IDENTIFIER}
    assert not_features(sparse.csr_array(rising), ["x"]) == {0: IDENTIFIER}
    assert not_features(rising + 0.5, ["x"]) == {}
    assert not_features(np.sort(WHOLE, axis=0), ["x"]) == {}
    # In few rows, some of many columns rise by chance.
    assert not_features(rising[:5], ["x"]) == {}
    genes = np.random.default_rng(0).integers(0, 1000, (6, 20_000)).astype(float)
    assert not_features(genes, [f"g{j}" for j in range(20_000)]) == {}


def test_counts_of_words_are_features_and_series_of_names_too():
    words = np.random.default_rng(0).poisson(0.2, (60, 50)).astype(float)
    names = ["run", "site", "id", *(f"word{j}" for j in range(47))]
    assert not_features(words, names) == not_features(sparse.csr_array(words), names) == {}
    words[:, 0] = np.repeat([1, 2, 3], 20)
    assert not_features(words, names) == {0: CIRCUMSTANCE}
    assert not_features(words + 1, [f"GeneID:{j}" for j in range(50)]) == {}


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.parent.name)
def test_no_feature_of_real_data_is_held_out(path):
    X = sparse.load_npz(path.with_name("X.npz"))
    names = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert not_features(X, names) == {}
    assert changed_names(names) == []


def test_names_that_a_spreadsheet_has_changed():
    names = ["TP53", "2-Sep", "1-Mar", "Sep-02", "2.31E+13", "BRCA1", "MYC", "EGFR", "KRAS", "1.5"]
    assert changed_names(names) == ["2-Sep", "1-Mar", "Sep-02", "2.31E+13"]
    # A table of months is one.
    assert changed_names([f"{month}-20" for month in ("Jan", "Feb", "Mar")]) == []


@pytest.mark.parametrize(
    ("name", "form"),
    [("SEPT2", "2-Sep"), ("SEPTIN2", "Sep-02"), ("MARCH1", "1-Mar"), ("MARCHF1", "1-Mar"),
     ("DEC1", "01-Dec"), ("2310009E13", "2.31E+19"), ("MARK2", None), ("SEPT3", None)],
)  # fmt: skip
def test_a_missing_name_may_have_been_changed(name, form):
    names = [form or "2-Mar", "TP53"]
    assert as_changed(name, names) == form


def test_infinite_values_are_no_whole_numbers_that_rise():
    X = np.column_stack([np.arange(20.0), np.arange(20.0)])
    X[-1, 1] = np.inf
    assert not_features(X, ["first", "second"]) == {0: IDENTIFIER}

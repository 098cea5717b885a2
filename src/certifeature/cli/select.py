"""``certifeature select``: choose features."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from certifeature._files import write_text
from certifeature.certificate import Certificate
from certifeature.certificate.selection import as_sample
from certifeature.cli.certificates import certified
from certifeature.cli.features import describe, feature_list
from certifeature.cli.loading import Loaded, Scaling, load
from certifeature.cli.options import (
    CostOption,
    DataArgument,
    FormatOption,
    JSONOption,
    MethodOption,
    ReportOption,
    ScaleOption,
    SeedOption,
    TargetOption,
    linear_svm,
)
from certifeature.cli.output import (
    check_data_file,
    check_writable,
    json_text,
    print_table,
    reproduction,
    spinner,
    write_data,
)
from certifeature.compare import METHODS, Method, method_named
from certifeature.report import Feature, Report, write_report
from certifeature.rows.matrix import scaled_columns
from certifeature.sparsify import Sample

__all__ = ["select_command"]

_OURS = ", ".join(name for name, method in METHODS.items() if method.ours)
_N_SHOWN = 20
# With more rows, the realised layer of the certificate takes longer than the selection.
_MAX_ROWS_REALISED = 5000


def select_command(
    data: DataArgument,
    size: Annotated[
        str,
        typer.Option(
            "-k",
            metavar="NUMBER",
            help="Number of features; or auto, the fewest that keep half of the squared margin.",
        ),
    ],
    target: TargetOption = None,
    unsupervised: Annotated[
        bool, typer.Option("--unsupervised", help="Choose for all rows, without labels.")
    ] = False,
    method: MethodOption = "bss",
    plain: Annotated[
        bool, typer.Option("--plain", help="Do not scale the chosen columns.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write names and scales to this file; - prints them."),
    ] = None,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write",
            "-w",
            help="Write the chosen columns, scaled, to this .svm, .csv, .tsv or .npz file.",
        ),
    ] = None,
    report: ReportOption = None,
    scale: ScaleOption = Scaling.none,
    cost: CostOption = 1.0,
    seed: SeedOption = 0,
    format: FormatOption = None,
    as_json: JSONOption = False,
) -> None:
    """Choose features, and say what the choice can cost.

    \b
    Examples:
      certifeature select genes.csv -t tumour -k 100 --scale standard
      certifeature select pages.svm.gz -k 300 -o chosen.txt --report report.html
      certifeature select counts.npz -k 500 --unsupervised --write reduced.npz
      zcat pages.svm.gz | certifeature select - --format svmlight -k 300 --json
    """
    chooser = method_named(method)
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise ValueError("-o - and --json both print to standard output; choose one.")
    check_writable(None if to_stdout else output, write, report, inputs=(data,))
    with spinner("reading"):
        loaded = load(
            data, target=target, format=format, scaling=scale, needs_labels=not unsupervised
        )
    check_data_file(write, loaded.y)
    n_select = _checked_size(size, loaded, chooser)
    svm = linear_svm(loaded.X.shape[0], cost, seed)
    selector = _selector(chooser, n_select, svm, seed, unsupervised=unsupervised, plain=plain)
    choice = _chosen(loaded, selector, n_select, svm, unsupervised=unsupervised)
    if output is not None:
        text = feature_list(choice.features)
        sys.stdout.write(text) if to_stdout else write_text(output, text)
    if write is not None:
        columns, scales = choice.sample.indices, choice.sample.weights
        reduced = scaled_columns(loaded.X[:, columns], scales)
        write_data(write, reduced, loaded.y, loaded.names[columns])
    if report is not None:
        asked = {
            "Data": str(loaded),
            "Method": f"{method}, {'all rows' if unsupervised else 'support vectors'}",
            "Number of features": size,
            "Scaling": scale.value,
            "SVM": str(svm),
        }
        write_report(_report(loaded, choice, asked, seed), report)
    if as_json:
        typer.echo(_as_json(loaded, choice, method, seed), nl=False)
    elif not to_stdout:
        _print(choice)


@dataclass(frozen=True, eq=False)
class _Choice:
    """The chosen features, what they can cost, and how long it took to choose them."""

    sample: Sample
    features: list[Feature]
    certificate: Certificate
    seconds: float


def _chosen(
    loaded: Loaded, selector: Any, n_select: int | str, svm: Any, *, unsupervised: bool
) -> _Choice:
    """Fit the selector, and certify what it chose."""
    n_rows, n_features = loaded.X.shape
    start = perf_counter()
    with spinner(f"choosing {n_select} of {n_features:,} features"):
        selector.fit(loaded.X, None if unsupervised else loaded.y)
    seconds = perf_counter() - start
    if not selector.get_support().any():
        raise ValueError("no feature was chosen: the weights are all zero. Raise C.")
    sample = as_sample(selector, n_features)
    if isinstance(n_select, int):
        # LPSVM finds a number of its own; the largest weights come first.
        sample = Sample(sample.indices[:n_select], sample.weights[:n_select])
    with spinner("certifying"):
        certificate, fitted = certified(
            loaded,
            sample,
            svm,
            selector=selector,
            unsupervised=unsupervised,
            realised=n_rows <= _MAX_ROWS_REALISED,
        )
    return _Choice(sample, describe(sample, loaded.names, fitted), certificate, seconds)


def _checked_size(size: str, loaded: Loaded, method: Method) -> int | str:
    """Return the number of features, which must not be more than there are, or "auto"."""
    n_features = loaded.X.shape[1]
    if size == "auto":
        if not method.ours:
            raise ValueError(f"-k auto works with {_OURS}; {method.name} needs a number.")
        return size
    if not size.isdecimal() or int(size) < 1:
        raise ValueError(f"-k must be a positive whole number or auto; got {size!r}.")
    if int(size) > n_features:
        raise ValueError(f"-k {size} is more than the {n_features} columns of {loaded.source}.")
    return int(size)


def _selector(
    method: Method, size: int | str, svm: Any, seed: int, *, unsupervised: bool, plain: bool
) -> Any:
    """Return the selector that the options stand for."""
    if unsupervised and not method.ours:
        raise ValueError(f"{method.name} needs labels; --unsupervised works with {_OURS}.")
    assert method.make is not None  # Only full data have none.
    selector = method.make(size, svm, seed)
    if method.ours:
        # Random choices need no SVM and no basis, but their certificates do.
        selector.set_params(
            supervised=not unsupervised, estimator=svm, basis="auto", n_components=None
        )
    return selector.set_params(rescale=False) if method.ours and plain else selector


def _report(loaded: Loaded, choice: _Choice, asked: dict[str, str], seed: int) -> Report:
    n_chosen, source = len(choice.features), Path(loaded.source).name
    title = f"{n_chosen} of {loaded.X.shape[1]:,} features of {source}"
    how = reproduction(loaded, seed)
    return Report(title, asked, choice.certificate, choice.features, reproduction=how)


def _print(choice: _Choice) -> None:
    features = choice.features
    rows = (
        (
            f.name,
            str(f.rank),
            f"{f.scale:.3g}",
            "" if f.weight is None else f"{f.weight:.3g}",
            f.label or "",
        )
        for f in features[:_N_SHOWN]
    )
    title = f"{len(features)} features chosen in {choice.seconds:.1f} s"
    if len(features) > _N_SHOWN:
        title += f"; the first {_N_SHOWN}"
    print_table(("feature", "rank", "scale", "|w|", "class"), rows, title=title)
    typer.echo(f"\n{choice.certificate}")


def _as_json(loaded: Loaded, choice: _Choice, method: str, seed: int) -> str:
    n_rows, n_features = loaded.X.shape
    return json_text(
        {
            "data": {
                "source": loaded.source,
                "n_rows": int(n_rows),
                "n_features": int(n_features),
                "fingerprint": loaded.fingerprint,
            },
            "method": method,
            "seed": seed,
            "seconds": choice.seconds,
            "features": [
                asdict(feature) | {"index": int(index)}
                for feature, index in zip(choice.features, choice.sample.indices, strict=True)
            ],
            "certificate": choice.certificate.to_dict(),
        }
    )

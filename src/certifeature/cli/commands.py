"""``certifeature select``, ``certify``, ``compare`` and ``demo``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from certifeature._files import visible
from certifeature.cli.loading import DataOptions, Loaded, read_features
from certifeature.cli.options import (
    CROSS_VALIDATED,
    METHOD,
    STREAMED,
    JSONOption,
    ModelOptions,
    ReportOption,
    SelectOptions,
    with_options,
)
from certifeature.cli.output import (
    certificate_values,
    check_data_file,
    check_writable,
    deliver,
    features_text,
    found_size,
    json_text,
    print_text,
    report_text,
    search_values,
    showing,
    size_curve,
    write_data,
)
from certifeature.cli.preparing import Scaling, note
from certifeature.cli.task import Choice, Task, certified, chosen, read
from certifeature.comparison import Comparison, compare, method_named
from certifeature.datasets import load_docstrings
from certifeature.models.problem import model_name, predicts_numbers
from certifeature.report import features_of
from certifeature.report.contents import EVERY_BEST_SET
from certifeature.rows.matrix import fingerprint

_N_SHOWN = 20
_DEMO_SIZE = 300
_DEMO_PACKAGES = ("scipy", "sklearn")
_DEMO_FOLDS = 3


@with_options
def select_command(
    *,
    data: DataOptions,
    options: SelectOptions,
    model: ModelOptions,
    stream: Annotated[bool, typer.Option("--stream")] = False,
    held_out: Annotated[float | None, typer.Option(metavar="SHARE")] = None,
    cv: Annotated[int | None, typer.Option(metavar="FOLDS", min=0)] = None,
    repeats: Annotated[int | None, typer.Option(min=1)] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    write: Annotated[Path | None, typer.Option("--write", "-w")] = None,
    write_scaled: Annotated[bool, typer.Option("--write-scaled")] = False,
    report: ReportOption = None,
    as_json: JSONOption = False,
) -> None:
    """Choose features, with a bound on what it can cost.

    \b
    Examples:
      certifeature select genes.csv -t tumour -k 100 --scale standard
      certifeature select pages.svm.gz -k 300 -o chosen.txt --report report.html
      certifeature select genes.csv -t tumour -k cv --keep TP53,BRCA1 --order stable
      certifeature select genes.csv -t tumour -k 100 --cv 5
      certifeature select genes.csv -t tumour -k 100 --id patient --drop site,age
      certifeature select expression.tsv --transpose -t tumour -k 100 --scale standard
      certifeature select 'parts/*.svm' -k 300 --stream
      certifeature select counts.npz -k 500 --unsupervised --write reduced.npz
      certifeature select prices.csv -t price -k 50 --model ridge
      zcat pages.svm.gz | certifeature select - --format svmlight -k 300 --json

    Parameters
    ----------
    stream
        Read the files one at a time, once for each pass over the rows, for data that do not fit
        into memory. Works with methods of this library, and without --scale standard and --cv.
    held_out
        Estimate the error on new data from this share of the rows of a --stream, such as 0.2, which
        are drawn at random and take no part in the choice. With --groups, whole groups are drawn.
    cv
        Estimate the error on new data by cross-validation with this number of folds. Features are
        chosen anew in each fold, for the true and for shuffled labels. A report uses five folds by
        default; 0 turns this off.
    repeats
        Number of cross-validations, each with new folds. The default is ten for up to 200 rows, and
        fewer for more: 2,000 over their number.
    output
        Write the names and scales of the chosen features to this file; if it ends in .csv, as a
        table with rank, weight and more. - prints them.
    write
        Write the chosen columns, and those of labels, row names and groups, to this .svm, .csv,
        .tsv or .npz file, with their original values.
    write_scaled
        Let --write write the values that the model has: imputed, scaled as --scale says, and times
        the scale of each chosen column.
    """
    options.check()
    if write_scaled and write is None:
        raise ValueError("--write-scaled says what --write writes; give --write FILE too.")
    if cv == 1:
        raise ValueError("--cv 1 leaves no training rows; ask for 2 folds or more, or 0 for none.")
    if stream:
        _check_stream(data, options, model, cv)
    if held_out is not None and (not stream or options.unsupervised):
        raise ValueError("--held-out needs --stream and labels; use --cv for rows in memory.")
    if held_out is not None and not 0 < held_out < 1:
        raise ValueError(f"--held-out must be a share of the rows, such as 0.2; got {held_out:g}.")
    to_stdout = str(output) == "-"
    if to_stdout and as_json:
        raise ValueError("-o - and --json both print to standard output; choose one.")
    lists = (value[1:] for value in options.keep or () if value.startswith("@"))
    check_writable(None if to_stdout else output, write, report, inputs=(*data.inputs(), *lists))
    how: Any = {"unsupervised": options.unsupervised, "stream": stream, "held_out": held_out}
    loaded, estimator = read(data, model, **how)
    check_data_file(write, loaded)
    task = Task(loaded, options, estimator, model.seed)
    choice = chosen(task, cv, repeats, beside=report is not None)
    columns, listed = choice.columns, features_text(choice.features, output or Path())
    result = listed if to_stdout else _json(task, choice) if as_json else _text(choice)

    def reduced() -> Iterator[Loaded]:
        parts = loaded.parts(scaled=write_scaled)
        return (part.chosen(columns, scaled=write_scaled) for part in parts)

    deliver(
        result,
        {
            None if to_stdout else output: lambda _: listed,
            write: lambda path: write_data(path, reduced()),
            report: lambda _: _report(task, choice),
        },
        as_data=to_stdout or as_json,
    )
    if report is not None and not (to_stdout or as_json):
        print_text(f"Report: {report}\n")
    if write is not None and not options.unsupervised:
        found = "its columns were chosen with the labels of all of its rows"
        note(f"{write}: {found}, so cross-validating this file would be biased")


def _check_stream(
    data: DataOptions, options: SelectOptions, model: ModelOptions, cv: int | None
) -> None:
    in_memory = {
        f"--method {options.method}": options.method not in STREAMED,
        "-k cv": options.size == CROSS_VALIDATED,
        "--scale standard": model.scale is Scaling.standard,
        "--cv": cv,
        "--impute": data.impute,
        "--categorical": data.categorical,
        "--min-class": data.min_class > 1,
        "--drop-unlabelled": data.drop_unlabelled,
        "--join-classes": data.join_classes,
        "--class-weight": model.class_weight,
    }
    for option, is_given in in_memory.items():
        if is_given:
            raise ValueError(f"{option} needs all rows in memory; leave it or --stream out.")


@with_options
def certify_command(
    *,
    data: DataOptions,
    features: Annotated[Path, typer.Option("--features", "-f")],
    unsupervised: Annotated[bool, typer.Option("--unsupervised")] = False,
    model: ModelOptions,
    report: ReportOption = None,
    as_json: JSONOption = False,
) -> None:
    """Certify how much a given list of features can cost.

    \b
    The list may come from any method. Columns without a name are called by their number,
    from 0. There is no --cv here: a given list of features cannot be chosen anew in each
    fold, so its errors would be too low.

    \b
    Examples:
      certifeature certify genes.csv -t tumour -f chosen.txt --scale standard
      certifeature certify pages.svm -f chosen.txt --json

    Parameters
    ----------
    features
        File with one feature name per line; a scale may follow after a tab. Or a .csv file with
        columns named feature and scale, as select -o writes.
    unsupervised
        Certify for all rows, without labels.
    """
    check_writable(report, inputs=(*data.inputs(), features))
    # A list that is not there is an error before any long work.
    features.stat()
    loaded, estimator = read(data, model, unsupervised=unsupervised)
    columns = read_features(features, loaded.names)
    with showing("certifying"):
        loaded = loaded.prepared()
        certificate, fitted = certified(loaded, columns, estimator, unsupervised=unsupervised)
    asked = {"Features": str(features), "Model": str(estimator)}
    marks = certificate.optimality
    listed = features_of(columns, loaded.names, model=fitted, optimality=marks)
    title = f"Certificate for {len(listed)} features of"
    result = json_text(certificate_values(certificate)) if as_json else f"{certificate}\n"
    reported: Any = (title, asked, loaded, model.seed)
    html = partial(report_text, *reported, certificate=certificate, features=listed)
    deliver(result, {report: lambda _: html()}, as_data=as_json)


@with_options
def compare_command(
    *,
    data: DataOptions,
    sizes: Annotated[list[int], typer.Option("-k")],
    methods: Annotated[list[str] | None, METHOD] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    report: ReportOption = None,
    repeats: Annotated[int | None, typer.Option(min=1)] = None,
    cv: Annotated[int, typer.Option(metavar="FOLDS", min=2)] = 5,
    tune: bool = True,
    model: ModelOptions,
    jobs: int = -1,
    as_json: JSONOption = False,
) -> None:
    """Compare methods by cross-validation.

    The table shows the test error, the time and the certified bound of each method.

    \b
    Examples:
      certifeature compare genes.csv -t tumour -k 50 -k 100 --scale standard
      certifeature compare pages.svm -k 300 -m bss -m rfe -m l1 --report report.html

    Parameters
    ----------
    sizes
        Number of features to choose; may be repeated.
    methods
        Method to compare; may be repeated. The default is all: {methods}; for ridge regression, all
        except {classifiers}.
    output
        Write the table to this .csv or .json file.
    repeats
        Number of cross-validations, each with new folds. The default is ten for up to 200 rows, and
        fewer for more: 2,000 over their number.
    cv
        Number of folds.
    tune
        Tune C for each method by inner folds, which takes about three times as long; otherwise it
        is the C of the model.
    jobs
        Number of processes; -1 uses all cores.
    """
    names = [method_named(name).name for name in methods] if methods else None
    check_writable(output, report, inputs=data.inputs())
    if output is not None and output.suffix not in (".csv", ".json"):
        raise ValueError(f"{output}: tables are written as .csv or .json; give such a file name.")
    loaded, estimator = read(data, model)
    if max(sizes) >= loaded.n_features:
        few = f"-k {max(sizes)} is not below the {loaded.n_features} columns"
        raise ValueError(f"{few}; ask for fewer.")
    with showing("comparing methods"):
        settings: dict[str, Any] = {"tune": tune, "n_repeats": repeats, "cv": cv, "n_jobs": jobs}
        settings |= {"estimator": estimator, "random_state": model.seed}
        settings |= {"preprocessing": loaded.preprocessing, "groups": loaded.groups}
        comparison = compare(loaded.X, loaded.y, sorted(sizes), methods=names, **settings)
    design = f"{comparison.n_repeats} × {comparison.n_folds} folds"
    asked = {"Cross-validation": design, "Model": str(estimator)}
    reported: Any = ("Selectors compared on", asked, loaded, model.seed)
    html = partial(report_text, *reported, comparison=comparison)
    result = json_text(comparison.to_dict()) if as_json else f"{comparison}\n"
    deliver(
        result,
        {output: lambda path: _table(comparison, path.suffix), report: lambda _: html()},
        as_data=as_json,
    )


@with_options
def demo_command(
    *, report: Annotated[Path, typer.Option("--report", "-r")] = Path("certifeature-demo.html")
) -> None:
    """Write a report on data that need no download.

    It chooses 300 words that distinguish SciPy's docstrings from scikit-learn's.

    \b
    Example:
      certifeature demo

    Parameters
    ----------
    report
        Write the report to this HTML file.
    """
    check_writable(report)
    docs: Any = load_docstrings(packages=_DEMO_PACKAGES)
    y = np.array(_DEMO_PACKAGES)[docs.target]
    source = f"docstrings of {' and '.join(_DEMO_PACKAGES)}"
    data = Loaded(docs.data, y, docs.feature_names, source, fingerprint(docs.data))
    print_text(f"{source}: {data.n_rows:,} texts, {data.n_features:,} words\n")
    task = Task(data, SelectOptions(str(_DEMO_SIZE)), ModelOptions().estimator(y))
    choice = chosen(task, _DEMO_FOLDS, None, beside=True)
    assert choice.comparison is not None
    first = " ".join(feature.name for feature in choice.features[:12])
    compared = choice.comparison.of_size(_DEMO_SIZE)
    result = f"first choices: {first}\n\n{choice.certificate}\n\n{compared}\n"
    deliver(result, {report: lambda _: _report(task, choice)}, as_data=False)
    print_text(f"\nReport: {report}\n")


def _report(task: Task, choice: Choice) -> str:
    """Return the report of a choice: the options, the result, and a comparison with others."""
    data, options, new_data = task.data, task.options, choice.certificate.new_data
    classes = {}
    if data.y is not None and not predicts_numbers(task.model):
        names, counts = np.unique(data.y, return_counts=True)
        classes = dict(zip(map(str, names.tolist()), counts.tolist(), strict=True))
    asked = {
        "Method": f"{options.method}, {'all rows' if options.unsupervised else 'support vectors'}",
        "Number of features": found_size(choice.search) if choice.search else options.size,
        **options.given(),
        **({"Error on new data": new_data.design} if new_data else {}),
        "Model": model_name(task.model),
    }
    contents = {
        "n_rows": data.n_rows,
        "classes": classes,
        "method": options.method,
        "supervised": not options.unsupervised,
        "certificate": choice.certificate,
        "features": choice.features,
        "comparison": choice.comparison,
        "search": choice.search,
        "doubts": data.doubts,
    }
    title = f"{len(choice.features)} of {data.n_features:,} features of"
    return report_text(title, asked, data, task.seed, **contents)


def _text(choice: Choice) -> str:
    """Return a table of the first features, and the certificate."""
    features = choice.features
    title = f"{len(features)} features chosen in {choice.seconds:.1f} s"
    if len(features) > _N_SHOWN:
        title += f"; the first {_N_SHOWN}"
    has_marks = any(f.always for f in features)
    optional = {"why": any(f.why for f in features), "best sets": has_marks}
    header = ["feature", "rank", "scale", "|w|", "points to", *filter(optional.get, optional)]
    table = Table(title=title, title_justify="left")
    for name in header:
        table.add_column(name, justify="left" if name == "feature" else "right")
    for f in features[:_N_SHOWN]:
        weight = "" if f.weight is None else f"{f.weight:.3g}"
        name, label = (escape(visible(text)) for text in (f.name, f.label or ""))
        more = {"why": f.why or "", "best sets": "every" if f.always else ""}
        cells = (name, str(f.rank), f"{f.scale:.3g}", weight, label)
        table.add_row(*cells, *(more[name] for name in header[len(cells) :]))
    search = ""
    if choice.search is not None:
        search = f"{found_size(choice.search)}\n{size_curve(choice.search)}\n\n"
    shown = "".join(segment.text for segment in Console().render(table))
    marks = f"{EVERY_BEST_SET}\n" if has_marks else ""
    return f"{search}{shown}{marks}\n{choice.certificate}\n"


def _json(task: Task, choice: Choice) -> str:
    """Return everything as JSON."""
    names = ("source", "n_rows", "n_features", "fingerprint")
    features = zip(choice.features, choice.columns.indices.tolist(), strict=True)
    return json_text(
        {
            "data": {name: getattr(task.data, name) for name in names},
            "method": task.options.method,
            "seed": task.seed,
            "seconds": choice.seconds,
            "size_search": None if choice.search is None else search_values(choice.search),
            "features": [asdict(feature) | {"index": index} for feature, index in features],
            "certificate": certificate_values(choice.certificate),
        }
    )


def _table(comparison: Comparison, suffix: str) -> str:
    """Return the comparison as CSV, a line for each method and size, or as JSON."""
    records = comparison.to_records()
    if suffix == ".json":
        return json_text(records)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()

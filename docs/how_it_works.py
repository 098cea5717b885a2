"""Draw the pictures of the page "How it works", from simulated genes and real texts.

The site calls `draw_all` when it is built; ``python docs/how_it_works.py`` does so by hand.
All that is drawn is computed here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.patches import Circle
from pictures import BLUE, FAINT, GREEN, GREY, LIGHT_BLUE, ORANGE, save_for_both_pages

from certifeature import at_scale
from certifeature.basis import exact_basis
from certifeature.datasets import load_docstrings
from certifeature.sparsify import ColumnChoice, bss

FOLDER = Path(__file__).parent / "_build" / "how_it_works"
PACKAGES = ("numpy", "scipy")
N_ROWS = 200
# Picks of the first picture, and directions and picks of the second.
N_IN_PLANE = 12
N_DIRECTIONS, N_PICKS = 20, 80


@dataclass(frozen=True)
class Rows:
    """Some of the texts and, for each word, its part along each direction of these texts."""

    X: Any
    vectors: Any
    singular_values: Any


def texts() -> Rows:
    X, _ = load_docstrings(packages=PACKAGES, return_X_y=True)
    some = np.sort(np.random.default_rng(0).choice(X.shape[0], N_ROWS, replace=False))
    basis = exact_basis(X[some])
    return Rows(X[some], np.asarray(basis.vectors), basis.singular_values)


def genes() -> tuple[Any, Any]:
    """Simulate 300 genes of two processes, and two classes that differ in the first.

    Most genes follow the first process; the others follow both in any proportion.
    """
    rng = np.random.default_rng(0)
    processes = rng.standard_normal((80, 2))
    angles = np.concatenate([rng.normal(0, 0.2, 240), rng.uniform(0, np.pi, 60)])
    return processes @ np.stack([np.cos(angles), np.sin(angles)]), processes[:, 0] > 0


def matrix(V: Any, choice: ColumnChoice) -> Any:
    """Return VᵀRRᵀV of some columns and their scales."""
    scaled = V[choice.indices] * choice.scales[:, None]
    return scaled.T @ scaled


def top_of(scores: Any, V: Any, n: int) -> ColumnChoice:
    """Return the columns of highest score, with one factor that restores the sum of squares."""
    squares = np.sum(V**2, axis=1)
    top = np.argsort(-scores, kind="stable")[:n]
    return ColumnChoice(top, np.full(n, np.sqrt(squares.sum() / squares[top].sum())))


def draw_directions() -> Any:
    X, y = genes()
    V = np.asarray(exact_basis(X).vectors)
    weights = np.abs(at_scale(X).fit(X, y).coef_[0])
    every = ColumnChoice(np.arange(len(V)), np.ones(len(V)))
    choices = [
        (f"all {len(V)} genes", every, GREY),
        (f"{N_IN_PLANE} largest weights", top_of(weights, V, N_IN_PLANE), ORANGE),
        (f"{N_IN_PLANE} picks of BSS", bss(V, N_IN_PLANE, priority=weights), BLUE),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.6), layout="constrained")
    for ax, (title, choice, colour) in zip(axes, choices, strict=True):
        arrows = V[choice.indices] * choice.scales[:, None]
        # Only their directions and proportions are shown; those of all genes are tiny.
        for a, b in 0.6 * arrows / np.sqrt(np.sum(arrows**2, axis=1).max()):
            ax.plot([-a, a], [-b, b], color=colour, alpha=0.5, linewidth=1)
        # The shape of the texts, as these columns show it: the image of the unit circle.
        values, axes_of = np.linalg.eigh(matrix(V, choice))
        angles = np.linspace(0, 2 * np.pi, 200)
        circle = np.stack([np.cos(angles), np.sin(angles)])
        shape = axes_of @ (np.sqrt(np.maximum(values, 0))[:, None] * circle)
        ax.plot(*shape, color=colour, linewidth=3)
        q = np.sqrt(V.shape[1] / N_IN_PLANE)
        for radius in (1 - q, 1 + q):
            ax.add_patch(Circle((0, 0), radius, fill=False, linestyle=":", color=GREEN, lw=2))
        ax.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal")
        ax.set_axis_off()
        ax.set_title(f"{title}\nλ = {values[0]:.2f}, Λ = {values[-1]:.2f}")
    return figure


def draw_barriers(found: Rows) -> Any:
    V = found.vectors[:, :N_DIRECTIONS]
    steps = bss(V, N_PICKS).steps
    assert steps is not None
    q = np.sqrt(N_DIRECTIONS / N_PICKS)
    matrices = np.cumsum(
        [e * np.outer(V[f], V[f]) for f, e in zip(steps.picks, steps.energies, strict=True)], axis=0
    )
    # In the units of the last step, which has the factor (1 − q)/r.
    times, factor = np.arange(N_PICKS + 1), (1 - q) / N_PICKS
    values = np.linalg.eigvalsh(np.concatenate([np.zeros_like(matrices[:1]), matrices])) * factor
    start = np.sqrt(N_PICKS * N_DIRECTIONS)
    lower, upper = (times - start) * factor, (times + start) * factor * (1 + q) / (1 - q)
    figure, ax = plt.subplots(figsize=(12, 5.4), layout="constrained")
    ax.plot(times, values[:, 1:-1], color=GREY, linewidth=1, alpha=0.7)
    ax.plot(times, values[:, [0, -1]], color=BLUE, linewidth=3)
    ax.plot(times, lower, times, upper, color=ORANGE, linewidth=3)
    ax.axhline(1, linestyle=":", color=GREEN, linewidth=2)
    ax.set(xlim=(0, N_PICKS), ylim=(-0.6, 2.6), xlabel="picks", ylabel="share of each direction")
    ax.text(30, upper[30] + 0.25, "upper barrier", color=ORANGE, ha="right")
    ax.text(30, lower[30] - 0.3, "lower barrier", color=ORANGE)
    return figure


def draw_influence(found: Rows) -> Any:
    squares = found.singular_values**2
    mu = 1 / (2 * at_scale(found.X).C)
    figure, ax = plt.subplots(figsize=(12, 4.6), layout="constrained")
    numbers = np.arange(1, len(squares) + 1)
    for times, colour in ((20, LIGHT_BLUE), (1, BLUE)):
        shares = squares / (squares + mu / times)
        name = "C of the default" if times == 1 else f"{times} times that C"
        ax.fill_between(numbers, shares, color=colour, alpha=FAINT, step="mid", linewidth=0)
        place = (0.1, 0.2) if times == 1 else (0.5, 0.6)
        label = f"{name}:\nD = {shares.sum():.0f} directions"
        ax.text(*place, label, transform=ax.transAxes, color="white" if times == 1 else "black")
    ax.set(xlim=(1, len(squares)), ylim=(0, 1), xlabel="directions", ylabel="influence")
    return figure


def draw_all(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = texts()
    pictures: dict[str, Callable[[], Any]] = {
        "directions": draw_directions,
        "barriers": partial(draw_barriers, found),
        "influence": partial(draw_influence, found),
    }
    for name, draw in pictures.items():
        save_for_both_pages(draw, folder, name, **{"font.size": 16})


if __name__ == "__main__":
    draw_all()

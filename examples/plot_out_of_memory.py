"""
Data that do not fit into memory
================================

Rows in several files, or in one large array on disk, are read in blocks. The selectors keep only a
summary of each block, and choose the same features as with all rows in memory. The data of this
example are small enough to show both.
"""

import tempfile
import tracemalloc
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import LinearSVC

from certifeature import BSSSelector
from certifeature.io import FileBlocks
from certifeature.rows import ArrayBlocks

folder = tempfile.TemporaryDirectory()
n_rows, n_features = 40_000, 300
on_disk = np.lib.format.open_memmap(
    Path(folder.name, "rows.npy"), "w+", np.float32, (n_rows, n_features)
)
rng = np.random.default_rng(0)
mixing = rng.standard_normal((20, n_features))
for start in range(0, n_rows, 2000):
    block = rng.standard_normal((2000, 20)) @ mixing + rng.standard_normal((2000, n_features))
    on_disk[start : start + 2000] = block
on_disk.flush()

# %%
# **One array on disk.** ``ArrayBlocks`` reads ``n_rows`` rows at a time. Features are chosen
# without labels here, in a single pass; with labels it takes a few passes.

X = np.load(Path(folder.name, "rows.npy"), mmap_mode="r")
blocks = ArrayBlocks(X, n_rows=2000)
print(blocks)
selector = BSSSelector(60, supervised=False)
from_blocks = selector.fit(blocks).indices_
in_memory = selector.fit(np.array(X)).indices_
print("the same features:", np.array_equal(from_blocks, in_memory))

# %%
# **Several files.** ``FileBlocks`` reads a folder of SVMlight, CSV, Parquet or NPZ files; each file
# is a block. These contain labels, so the features are chosen for a support vector machine, and
# only its support vectors are collected. ``transform`` returns the chosen columns, file by file.

labels = (X[:, 0] + X[:, 1] > 0).astype(int)
parts = Path(folder.name, "parts")
parts.mkdir()
for number in range(4):
    rows = slice(2000 * number, 2000 * (number + 1))
    np.savez(parts / f"part-{number}.npz", X=X[rows], y=labels[rows])

files = FileBlocks(parts)
print(files)
supervised = BSSSelector(60, estimator=LinearSVC(C=0.001, random_state=0)).fit(files)
for block in supervised.transform(files):
    print(f"rows from {block.first_row}: {block.X.shape[0]} × {block.X.shape[1]} values")

# %%
# **Memory.** The peak memory of a selection against the number of rows, in blocks and with all rows
# in memory (in double precision, as in the computation).


def peak_megabytes(size, open_rows):
    tracemalloc.start()
    selector.fit(open_rows(X[:size]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


sizes = [5_000, 10_000, 20_000, 40_000]
loaded = [peak_megabytes(size, partial(np.array, dtype=float)) for size in sizes]
streamed = [peak_megabytes(size, partial(ArrayBlocks, n_rows=2000)) for size in sizes]
for size, whole, part in zip(sizes, loaded, streamed, strict=True):
    print(f"{size:6} rows: {whole:4.0f} MB in memory, {part:3.0f} MB in blocks")
folder.cleanup()

fig, ax = plt.subplots(layout="constrained")
thousands = np.array(sizes) / 1000
ax.plot(thousands, loaded, "o-", color="C1", label="all rows in memory")
ax.plot(thousands, streamed, "s-", color="C0", label="in blocks")
ax.set(xlabel="thousands of rows", ylabel="peak memory (MB)", xlim=(0, None), ylim=(0, None))
ax.legend()
plt.show()

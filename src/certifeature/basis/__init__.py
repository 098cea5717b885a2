"""Orthonormal bases of the row space of wide data.

The rows of X that matter (the support vectors, or all rows) span a subspace of the feature space.
Everything that a linear model can see of those rows lies in it, so a selection of features is good
when it keeps that subspace well conditioned. The functions here return the subspace as a matrix V
(d × ℓ) with orthonormal columns; row i of V belongs to feature i.

X is dense or sparse and is never densified: the work goes through its smaller Gram matrix. Where V
itself would be large, its rows are made when they are asked for.
"""

from certifeature.basis.basis import Basis
from certifeature.basis.span import exact_basis, sketched_basis

__all__ = ["Basis", "exact_basis", "sketched_basis"]

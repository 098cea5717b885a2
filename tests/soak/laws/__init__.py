"""Every law by its name."""

from soak.laws.bases import bases_span_the_rows
from soak.laws.certificates import certificates_are_true, layers_nest, realised_values_enclose
from soak.laws.changes import changes_are_noticed
from soak.laws.choices import (
    choices_ignore_columns,
    choices_ignore_rows,
    tied_choices_ignore_places,
)
from soak.laws.eigenvalues import products_bound_eigenvalues
from soak.laws.enclosures import (
    balls_are_enclosed,
    hinge_is_enclosed,
    logistic_is_enclosed,
    margins_are_enclosed,
    multinomial_is_enclosed,
    squared_hinge_is_enclosed,
    tube_is_enclosed,
)
from soak.laws.extremes import extreme_costs_end, far_columns_keep_their_digits
from soak.laws.forms import blocks_are_memory, sparse_is_dense
from soak.laws.growth import (
    extreme_growth_is_bounded,
    growth_is_bounded,
    hidden_growth_is_bounded,
    ridges_bound_curvatures,
)
from soak.laws.oracles import oracles_agree
from soak.laws.promises import promises_are_kept
from soak.laws.readers import readers_survive
from soak.laws.selectors import certify_survives, selectors_survive
from soak.laws.sparsifiers import (
    bss_keeps_its_bounds,
    bss_keeps_its_bounds_with_shares,
    draws_add_up,
    groups_keep_the_bounds,
    pivots_are_farthest,
)
from soak.laws.subset import (
    any_multipliers_bound_every_set,
    few_more_columns_reach_the_relaxation,
    no_groups_beat_the_bound,
    no_rival_beats_the_bound,
    no_set_beats_the_bound,
)
from soak.laws.support import covered_rows_change_nothing, support_rows_suffice

LAWS = {
    law.__name__: law
    for law in (
        oracles_agree,
        no_set_beats_the_bound,
        no_groups_beat_the_bound,
        any_multipliers_bound_every_set,
        few_more_columns_reach_the_relaxation,
        no_rival_beats_the_bound,
        bss_keeps_its_bounds,
        bss_keeps_its_bounds_with_shares,
        groups_keep_the_bounds,
        draws_add_up,
        pivots_are_farthest,
        bases_span_the_rows,
        certificates_are_true,
        growth_is_bounded,
        extreme_growth_is_bounded,
        hidden_growth_is_bounded,
        ridges_bound_curvatures,
        products_bound_eigenvalues,
        promises_are_kept,
        support_rows_suffice,
        covered_rows_change_nothing,
        layers_nest,
        realised_values_enclose,
        far_columns_keep_their_digits,
        extreme_costs_end,
        margins_are_enclosed,
        hinge_is_enclosed,
        squared_hinge_is_enclosed,
        logistic_is_enclosed,
        multinomial_is_enclosed,
        tube_is_enclosed,
        balls_are_enclosed,
        choices_ignore_rows,
        choices_ignore_columns,
        tied_choices_ignore_places,
        sparse_is_dense,
        blocks_are_memory,
        selectors_survive,
        certify_survives,
        readers_survive,
        changes_are_noticed,
    )
}

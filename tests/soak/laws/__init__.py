"""Every law by its name."""

from soak.laws.bases import bases_span_the_rows
from soak.laws.certificates import certificates_are_true, layers_nest, realised_values_enclose
from soak.laws.choices import choices_ignore_columns, choices_ignore_rows
from soak.laws.enclosures import (
    balls_are_enclosed,
    hinge_is_enclosed,
    margins_are_enclosed,
    squared_hinge_is_enclosed,
)
from soak.laws.oracles import oracles_agree
from soak.laws.readers import readers_survive
from soak.laws.selectors import certify_survives, selectors_survive
from soak.laws.sparsifiers import (
    bss_keeps_its_bounds,
    bss_keeps_its_bounds_with_shares,
    draws_add_up,
    pivots_are_farthest,
)

LAWS = {
    law.__name__: law
    for law in (
        oracles_agree,
        bss_keeps_its_bounds,
        bss_keeps_its_bounds_with_shares,
        draws_add_up,
        pivots_are_farthest,
        bases_span_the_rows,
        certificates_are_true,
        layers_nest,
        realised_values_enclose,
        margins_are_enclosed,
        hinge_is_enclosed,
        squared_hinge_is_enclosed,
        balls_are_enclosed,
        choices_ignore_rows,
        choices_ignore_columns,
        selectors_survive,
        certify_survives,
        readers_survive,
    )
}

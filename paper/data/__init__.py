"""The paper's data, as they are distributed."""

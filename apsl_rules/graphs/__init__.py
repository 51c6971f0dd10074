"""Known graphs: DAGs, CPDAGs, graphs given by their marks, and extensions of them."""

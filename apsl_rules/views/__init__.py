"""What people look at: one drawing of a part as a page, as SVG, as a plot and in a notebook, and a live widget."""

"""The views of a part that people look at: one drawing, as a page, as SVG, as a plot and in a notebook."""

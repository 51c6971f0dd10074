"""Results as values: parts, graphs, stability and comparison; how they are saved, loaded and printed."""

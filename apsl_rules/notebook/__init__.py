"""Results as notebooks show them: HTML without scripts, and a live widget."""

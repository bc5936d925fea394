"""Side by side with the peers, in one run: ratios, not times."""

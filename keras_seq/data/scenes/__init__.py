"""A painter of scenes: what is in them, how they look, what is said of them."""

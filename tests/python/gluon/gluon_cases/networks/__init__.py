"""Cases of whole networks."""

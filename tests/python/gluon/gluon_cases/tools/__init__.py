"""Cases of what is around training: the profiler, mx.contrib, mx.test_utils."""

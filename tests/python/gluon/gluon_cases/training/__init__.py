"""Cases of what a training script needs besides gluon: metrics, callbacks, logs, mx.util."""

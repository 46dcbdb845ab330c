"""Cases of the Python front end: what scripts import, run here and on the real MXNet 1.9.1 by the same lines."""

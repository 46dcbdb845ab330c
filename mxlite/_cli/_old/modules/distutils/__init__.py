"""What programs take from `distutils`, which Python 3.12 has no longer. The copy of setuptools comes first."""

"""Keys of arrays, parsed for the operators of the library that read and write by them; used by all front ends."""

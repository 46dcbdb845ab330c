"""Keys of arrays: how they are parsed, and the positions that they select; used by both front ends."""

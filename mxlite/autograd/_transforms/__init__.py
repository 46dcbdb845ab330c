"""Functions of functions, for both front ends: what torch.func and forward_ad are made of."""

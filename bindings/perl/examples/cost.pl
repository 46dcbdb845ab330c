#!/usr/bin/env perl
# What `$x + $y` of two 4 x 4 arrays costs: the best of five rounds.
use v5.30;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use List::Util 'min';
use Mxlite 'array';
use Time::HiRes 'time';

my ($x, $y) = map { array([($_) x 16], shape => [4, 4]) } 1, 2;
my $best = min map {
    my $begin = time;
    for (1 .. 100_000) { my $sum = $x + $y }
    (time - $begin) / 100_000;
} 1 .. 5;
printf "x + y, 4 x 4: %.0f ns\n", $best * 1e9;

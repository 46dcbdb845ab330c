#!/usr/bin/env perl
# What `$x + $y` of two 4 x 4 arrays costs. Answers each line, a number of calls, with the nanoseconds of one: how
# benchmarks/bindings.py asks.
use v5.30;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Mxlite 'array';
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($x, $y) = map { array([($_) x 16], shape => [4, 4]) } 1, 2;
$| = 1;
say "Perl $^V";
while (my $count = <STDIN>) {
    my $begin = clock_gettime(CLOCK_MONOTONIC);
    for (1 .. $count) { my $sum = $x + $y }
    say 1e9 * (clock_gettime(CLOCK_MONOTONIC) - $begin) / $count;
}

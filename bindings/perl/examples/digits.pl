#!/usr/bin/env perl
# Trains a two-layer network on handwritten digits, as examples/digits.c does, and prints the same table.
#
#     perl -Ilib examples/digits.pl [../../examples/data/digits.u8]
use v5.30;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures';
use FindBin;
use lib "$FindBin::Bin/../lib";
use Time::HiRes 'time';
use Mxlite qw(array record seed live_handles);

my ($pixels, $train, $held_out, $hidden, $batch, $epochs) = (64, 1437, 360, 128, 32, 20);

# A weight or bias and its momentum. He's initial weights (He et al. 2015): variance 2 / inputs; biases zero.
sub parameter($inputs, @shape) {
    my $value = $inputs
        ? Mxlite::Op::_random_normal(shape => \@shape, scale => sqrt(2 / $inputs))
        : Mxlite::Op::_zeros(shape => \@shape);
    return [$value->attach_grad, Mxlite::Op::_zeros(shape => \@shape)];
}

# Scores of each digit for a batch of images: relu(x W1 + b1) W2 + b2.
sub scores($network, $x) {
    my ($w1, $b1, $w2, $b2) = map { $_->[0] } @$network;
    return $x->FullyConnected($w1, $b1, num_hidden => $hidden)->relu->FullyConnected($w2, $b2, num_hidden => 10);
}

# Mean of -log(probability of the right digit).
sub cross_entropy($scores, $digits) { -$scores->log_softmax->pick($digits)->mean }

# One batch: records the loss, runs backward, updates the weights. Returns the loss.
sub train_batch($network, $x, $y, $rate) {
    my $loss = record(sub { cross_entropy(scores($network, $x), $y) });
    $loss->backward;
    for (@$network) {
        my ($weight, $momentum) = @$_;
        $weight->sgd_mom_update($weight->grad, $momentum, lr => $rate, momentum => 0.9, wd => 0.0001, out => $weight);
    }
    return $loss->item;
}

# An order of 0 .. $train - 1 drawn from the library's random numbers (Fisher and Yates).
sub draw_order() {
    my @numbers = Mxlite::Op::_random_uniform(shape => [$train])->list;
    my @order   = 0 .. $train - 1;
    for my $i (reverse 1 .. $train - 1) {
        my $k = int($numbers[$i] * ($i + 1));
        $k = $i if $k > $i;
        @order[$i, $k] = @order[$k, $i];
    }
    return @order;
}

sub train_epoch($network, $images, $digits, $rate) {
    my ($total, @order) = (0, draw_order());
    while (my @chosen = splice @order, 0, $batch) {
        my $rows = array(\@chosen);
        $total += train_batch($network, $images->take($rows), $digits->take($rows), $rate) * @chosen;
    }
    return $total / $train;
}

# Loss and accuracy on the images that were held out.
sub evaluate($network, $images, $digits) {
    my $scores = scores($network, $images);
    my @read   = $scores->argmax(axis => 1)->list;
    my @true   = $digits->list;
    my $right  = grep { $read[$_] == $true[$_] } 0 .. $#true;
    return cross_entropy($scores, $digits)->item, $right / @true;
}

sub run() {
    my $path = $ARGV[0] // "$FindBin::Bin/../../../examples/data/digits.u8";
    open my $file, '<:raw', $path or die "digits: $path: $!\n";
    my @records = map { [unpack 'C*', $_] } unpack '(a65)*', do { local $/; <$file> };
    die 'digits: ', scalar @records, " images could be read\n" unless @records == $train + $held_out;
    my @sets = ([@records[0 .. $train - 1]], [@records[$train .. $#records]]);
    my ($images, $held_images) =
        map { array([map { map { $_ / 16 } @$_[0 .. 63] } @$_], shape => [scalar @$_, $pixels]) } @sets;
    my ($digits, $held_digits) = map { array([map { $_->[64] } @$_]) } @sets;
    seed(1);
    my $network = [parameter($pixels, $hidden, $pixels), parameter(0, $hidden), parameter($hidden, 10, $hidden),
        parameter(0, 10)];
    my $accuracy;
    say 'epoch   training loss   held-out loss   held-out accuracy   seconds';
    for my $epoch (1 .. $epochs) {
        my $begin = time;
        my $loss  = train_epoch($network, $images, $digits, $epoch <= $epochs / 2 ? 0.2 : 0.02);
        (my $held_loss, $accuracy) = evaluate($network, $held_images, $held_digits);
        printf "%5d %15.4f %15.4f %19.3f %9.3f\n", $epoch, $loss, $held_loss, $accuracy, time - $begin;
    }
    return $accuracy;
}

my $accuracy = run();
die 'digits: ', live_handles(), " arrays were not freed\n" if live_handles();
printf "held-out accuracy %.3f\n", $accuracy;

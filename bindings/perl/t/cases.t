# Runs every case of bindings/cases.json.
use v5.30;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures';
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Test::More;
use Mxlite qw(array op record pause train_mode predict_mode backward);

my $path = $ENV{MXLITE_CASES} // "$FindBin::Bin/../../cases.json";
open my $file, '<', $path or die "$path: $!\n";
my $cases = decode_json(do { local $/; <$file> })->{cases};

sub number($text) { $text =~ /^-?(?:inf|nan)$/ ? 0 + $text : $text }

sub as_array($item) {
    return array([map { number($_) } @{ $item->{values} }], shape => $item->{shape}, dtype => $item->{dtype});
}

# What is wrong with an array, or nothing.
sub difference($what, $array, $expected) {
    return "$what: dtype " . $array->dtype unless $array->dtype eq $expected->{dtype};
    return "$what: shape @{[$array->shape]}" unless "@{[$array->shape]}" eq "@{$expected->{shape}}";
    my ($i, @found) = (0, $array->list);
    for my $b (map { number($_) } @{ $expected->{values} }) {
        my $a = $found[ $i++ ];
        next if $a == $b || ($a != $a && $b != $b);
        my $room = $expected->{atol} + $expected->{rtol} * abs $b;
        next if abs($b) < 9**9**9 && abs($a - $b) <= $room;
        return "$what: element " . ($i - 1) . ": $b was expected, $a came";
    }
    return;
}

sub wrong($case) {
    my @inputs    = map { as_array($_) } @{ $case->{inputs} };
    my @gradients = @{ $case->{gradients} // [] };
    $_->attach_grad for my @variables = map { $inputs[ $_->{input} ] } @gradients;
    my @outputs = eval {
        my $scope = @variables     ? record()     : pause();
        my $mode  = $case->{train} ? train_mode() : predict_mode();
        op($case->{op}, @inputs, %{ $case->{params} });
    };
    if (exists $case->{error}) {
        return 'no error came' unless $@;
        return $@->message eq $case->{error} ? () : 'another error came: ' . $@->message;
    }
    return "$@" if $@;
    return @outputs . ' outputs' unless @outputs == @{ $case->{outputs} };
    my @wrong = map { difference("output $_", $outputs[$_], $case->{outputs}[$_]) } 0 .. $#outputs;
    return @wrong unless @variables;
    backward(\@outputs, head_grads => [map { as_array($_) } @{ $case->{heads} }], train => $case->{train});
    return @wrong, map { difference("gradient $_", $variables[$_]->grad, $gradients[$_]) } 0 .. $#variables;
}

ok @$cases > 0, 'the file holds cases';
for my $case (@$cases) {
    my @wrong = eval { wrong($case) };
    @wrong = $@ if $@;
    is "@wrong", '', $case->{id};
}
done_testing;

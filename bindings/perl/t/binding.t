# Values, errors, gradients, lifetimes, forks and threads of the binding.
use v5.30;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures';
use Config;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp 'tempdir';
use threads;
use Test::More;
use Mxlite qw(array record pause train_mode predict_mode numpy_shape is_recording is_training backward grad save load
    seed live_handles op);

sub message($body) { eval { $body->(); 1 } ? 'no error' : ref $@ ? $@->message : $@ }
sub values_are($array, $expected, $name) { is_deeply [$array->list], $expected, $name }

# ---- values ----
my %values = (
    float32 => [0.5, -1.25, 9**9**9], float64 => [0.1, 1e300], float16 => [1.5, -2], uint8 => [0, 255],
    int8 => [-128, 127], int32 => [-2**31, 2**31 - 1], int64 => [-9007199254740993, 9223372036854775807], bool => [1, 0],
);
for my $dtype (sort keys %values) {
    my $x = array($values{$dtype}, dtype => $dtype);
    is $x->dtype, $dtype, "$dtype: dtype";
    values_are($x, $values{$dtype}, "$dtype: there and back");
}
my $m = array([[1, 2, 3], [4, 5, 6]]);
is_deeply [$m->shape], [2, 3], 'the shape of nested lists';
is_deeply $m->nested, [[1, 2, 3], [4, 5, 6]], 'nested lists back';
is_deeply array([1 .. 8], shape => [2, 2, 2])->nested, [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], 'three levels';
is array(7)->item, 7, 'a number';
is "$m", 'Mxlite::Array(float32, [2, 3])', 'as a string';
like message(sub { array([[1, 2], [3]]) }), qr/rows of several lengths/, 'ragged lists';
like message(sub { array([1], dtype => 'complex') }), qr/no dtype complex/, 'an unknown dtype';
like message(sub { $m->item }), qr/one element was expected, 6 came/, 'item of several';
like message(sub { $m->copy_from([1]) }), qr/MXNDArraySyncCopyFromCPU/, 'too few values';
like message(sub { array([1], dtype => 'float16')->copy_from([2]) }), qr/float16 cannot be written/, 'float16';
numpy_shape(sub {
    is_deeply [array([], shape => [0, 3])->list], [], 'an empty array in numpy-shape mode';
    is array([5], shape => [])->item, 5, 'a scalar in numpy-shape mode';
});

# ---- operators ----
my $v = array([1, 4, 9]);
values_are($v + $v,     [2, 8, 18],        '+');
values_are($m - $v,     [0, -2, -6, 3, 1, -3], '- with broadcasting');
values_are(10 - $v,     [9, 6, 1],         'a number on the left');
values_are($v - 1,      [0, 3, 8],         'a number on the right');
values_are(36 / $v,     [36, 9, 4],        '/ on the left');
values_are($v * 2 / 4,  [0.5, 2, 4.5],     '* and /');
values_are($v % 4,      [1, 0, 1],         '%');
values_are(2**array([1, 3]), [2, 8],       '** on the left');
values_are(-sqrt $v,    [-1, -2, -3],      'neg and sqrt');
values_are(abs(-$v),    [1, 4, 9],         'abs');
{
    my $w = my $same = $v;
    $w += 1;
    values_are($w,    [2, 5, 10], '+= makes a new array');
    values_are($same, [1, 4, 9],  'and leaves the old one');
    ok $same == $v && !($same == $w), '== is identity';
}
like message(sub { $v + array([1, 2]) }), qr/^broadcast_add: /, 'an operator fails with the library\'s message';
like message(sub { $v + 'x' }), qr/a number was expected/, 'no number';
values_are(Mxlite::Op::softmax(array([[1, 1]]), axis => 1), [0.5, 0.5], 'a generated function');
values_are($m->sum(axis => [0, 1]), [21], 'a generated method');
values_are(op('dot', $m, $m, transpose_b => 1), [14, 32, 32, 77], 'an operator by name');
values_are($m->SequenceMask(sequence_length => array([1, 2, 1]), use_sequence_length => 1), [1, 2, 3, 0, 5, 0],
    'an input by name');
values_are(Mxlite::Op::concat($v, $v, dim => 0), [1, 4, 9, 1, 4, 9], 'inputs are counted');
values_are(Mxlite::Op::add_n([$v, $v, $v]), [3, 12, 27], 'inputs in a list');
is_deeply [map { $_->list } $m->split(num_outputs => 3, axis => 1, squeeze_axis => 1)], [1, 4, 2, 5, 3, 6], 'outputs';
like message(sub { my $one = $m->split(num_outputs => 3, axis => 1) }), qr/one output was expected, 3 came/, 'one of three';
{
    my $out = array([0, 0, 0]);
    ok $v->square(out => $out) == $out, 'out is returned';
    values_are($out, [1, 16, 81], 'and written');
}
ok array([1], dtype => 'float64')->_plus_scalar(scalar => 1 / 3)->item == 1 + 1 / 3, 'parameters keep all digits';
values_are($m->sum(axis => undef), [21], 'undef is None');

# ---- errors ----
like message(sub { op('no_such_operator', $v) }), qr/no_such_operator/, 'an unknown operator';
like message(sub { $v->softmax(no_such => 1) }),  qr/unknown parameter/, 'an unknown parameter';
like message(sub { $v->softmax('axis') }),        qr/one value is missing/, 'half a pair';
like message(sub { op('softmax') }),              qr/^softmax: /, 'no input';
like message(sub { $v->softmax(other => $v) }),   qr/there is no input other/, 'an unknown input';
like message(sub { op('softmax', []) }),          qr/^softmax: /, 'an empty list of inputs';
like message(sub { op('softmax', [undef]) }),     qr/an array was expected, undef came/, 'undef among the inputs';
eval { $v->softmax(axis => 9) };
my $line = __LINE__ - 1;
like "$@", qr/^softmax: axis 9 .* at \Q$0\E line $line\.$/, 'the message says where';
isa_ok $@, 'Mxlite::Error';

# ---- gradients ----
my $x = array([1, 2, 3]);
is $x->grad, undef, 'no gradient before attach_grad';
$x->attach_grad;
record(sub { $x * $x * $x })->backward;
values_are($x->grad, [3, 12, 27], 'backward');
{
    my $y = record(sub { $x * $x });
    backward([$y], head_grads => [array([1, 10, 100])], retain_graph => 1);
    values_are($x->grad, [2, 40, 600], 'head gradients');
    $y->backward;
    values_are($x->grad, [2, 4, 6], 'a retained graph');
    like message(sub { $y->backward }), qr/./, 'a released graph';
    like message(sub { backward([$y], head_grads => [$x, $x]) }), qr/1 head gradients were expected, 2 came/, 'too many';
}
{
    my $scope = record;
    my $y     = $x**4;
    for my $expected ([4, 32, 108], [12, 48, 108], [24, 48, 72], [24, 24, 24]) {
        $y = grad([$y], [$x], create_graph => 1);
        is_deeply [map { sprintf '%.3f', $_ } $y->list], [map { sprintf '%.3f', $_ } @$expected], 'gradients of any order';
    }
}
like message(sub { grad([$x], []) }), qr/at least one variable/, 'no variables';
record(sub { pause(sub { $x * $x }) * $x + $x->detach })->backward;
values_are($x->grad, [1, 4, 9], 'paused and detached values are constants');

# ---- scopes ----
is is_recording() . is_training(), '00', 'nothing is recorded at first';
record(sub {
    is is_recording() . is_training(), '11', 'record';
    pause(sub { is is_recording() . is_training(), '00', 'pause' });
    predict_mode(sub { is is_recording() . is_training(), '10', 'predict_mode' });
    is is_recording() . is_training(), '11', 'restored';
});
is train_mode(sub { is_training() }), 1, 'train_mode, and the value of a block';
is_deeply [record(sub { (1, 2, 3) })], [1, 2, 3], 'a list from a block';
eval { record(sub { die "out\n" }) };
is $@ . is_recording(), "out\n0", 'die ends a scope';
{ my $scope = record; is is_recording(), 1, 'a scope as an object' }
is is_recording(), 0, 'ends with its block';

# ---- views, files ----
{
    my ($rows, $flat, $share) = ($m->rows(1, 2), $m->view(-1), $m->share);
    $m->copy_from([6, 5, 4, 3, 2, 1]);
    is_deeply [map { $_->list } $rows, $flat, $share], [3, 2, 1, (6, 5, 4, 3, 2, 1) x 2], 'views share memory';
    like message(sub { $m->rows(1, 3) }), qr/./, 'rows out of range';
}
my $file = tempdir(CLEANUP => 1) . '/a.params';
save($file, w => $v, b => array([7], dtype => 'int64'));
my @pairs = load($file);
is_deeply [@pairs[0, 2]], ['w', 'b'], 'names and their order';
is_deeply [map { $_->dtype, $_->list } @pairs[1, 3]], ['float32', 1, 4, 9, 'int64', 7], 'arrays of a file';
like message(sub { load("$file.not") }), qr/a\.params\.not/, 'no file';
like message(sub { save('/no/such/folder/x', w => $v) }), qr{/no/such}, 'no folder';
@pairs = ();

# ---- lifetimes ----
{
    my $before = live_handles();
    for (1 .. 200) {
        my $a = array([1 .. 10])->attach_grad;
        my ($p, $q) = record(sub { ($a * $a)->split(num_outputs => 2, axis => 0) });
        backward([$p, $q]);
        my $g = $a->grad;
        eval { $a->softmax(axis => 9) };
    }
    is live_handles(), $before, 'nothing stays alive';
    my $a = array([1]);
    is live_handles(), $before + 1, 'but what is held';
    $a->DESTROY for 1 .. 3;
    is live_handles(), $before, 'an explicit DESTROY frees';
    is $$a, undef, 'once';
    like message(sub { $a->list }), qr/./, 'and what is freed is an error';
}
{
    my $before = live_handles();
    my $child = fork // die "fork: $!";
    if (!$child) {
        my $right = join(',', ($v + 1)->list) eq '2,5,10';
        undef $v;
        require POSIX;
        POSIX::_exit($right ? 0 : 1);
    }
    waitpid $child, 0;
    is $?, 0, 'a forked child computes and frees its own';
    values_are($v, [1, 4, 9], 'the parent has its array still');
    is live_handles(), $before, 'and its handles';
}
{
    my $code = 'use warnings; use Mxlite "array"; our $x = array([1]); our $s = Mxlite::record(); my $y = $x; $y = \$y; print "end"';
    my $output = qx($^X -I$FindBin::Bin/../lib -e '$code' 2>&1);
    is "$output$?", 'end0', 'global destruction is silent';
}
{
    my $before = live_handles();
    my ($kind, $recording, @sum) = threads->create({ context => 'list' }, sub {
        my $gone = ref \$v eq 'REF' && ref $v eq 'Mxlite::Array' ? 'array' : 'no array';
        my $a = array([1, 2])->attach_grad;
        record(sub { $a * $a })->backward;
        return $gone, is_recording(), $a->grad->list;
    })->join;
    is $kind, 'no array', 'a thread gets no copy that would be freed twice';
    is_deeply [$recording, @sum], [0, 2, 4], 'a thread computes on its own';
    values_are($v, [1, 4, 9], 'the array lives on here');
    is live_handles(), $before, 'and the thread left nothing';
}

# ---- random numbers, modes ----
seed(3);
my @first = Mxlite::Op::_random_uniform(shape => [4])->list;
seed(3);
is_deeply [Mxlite::Op::_random_uniform(shape => [4])->list], \@first, 'seed';
{
    my $ones = Mxlite::Op::_ones(shape => [100]);
    is_deeply [$ones->Dropout->list], [(1) x 100], 'Dropout does nothing in predicting mode';
    ok scalar(grep { $_ == 0 } train_mode(sub { $ones->Dropout->list })), 'and drops in training mode';
}
done_testing;

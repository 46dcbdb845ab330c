package Mxlite;
# Arrays, operators and gradients of libmxlite over FFI::Platypus. Every operator is a function of Mxlite::Op and a
# method of Mxlite::Array, made when this is loaded out of what the library says about itself. See README.md.
use v5.30;
use warnings;
use feature 'signatures';
no warnings 'experimental::signatures';
use Exporter 'import';
use FFI::Platypus 1.00;
use Scalar::Util qw(blessed looks_like_number);

our $VERSION   = '0.1.0';
our @EXPORT_OK = qw(array record pause train_mode predict_mode numpy_shape is_recording is_training
    backward grad save load seed live_handles op);

# ---- the C API: functions of Mxlite::C ----

sub _library() {
    return $ENV{MXLITE_LIBRARY} if $ENV{MXLITE_LIBRARY};
    chomp(my $file = qx(pkg-config --variable=library mxlite) // '');
    die "Mxlite: set MXLITE_LIBRARY to libmxlite.so, or PKG_CONFIG_PATH to where mxlite.pc is\n" if $file eq '';
    return $file;
}

my $ffi = FFI::Platypus->new(api => 1, lib => [_library()]);
$ffi->find_symbol('MXLGetVersion') or die 'Mxlite: ', _library(), " cannot be loaded\n";

# o: a handle or pointer, O: a pointer to one; i I q d: int, uint32, int64, double (capital: unsigned), n N Q: pointers
# to int, uint32, int64; c: a string, or packed numbers and handles. The result is a status where nothing else is said.
my %type = (
    o => 'opaque', O => 'opaque*', i => 'int', I => 'uint32', q => 'sint64', d => 'double', z => 'size_t',
    n => 'int*', N => 'uint32*', Q => 'sint64*', c => 'string', b => 'bool', B => 'uint8*',
);
my @functions = qw(
    MXGetLastError::c MXRandomSeed:i MXListAllOpNames:NO NNGetOpHandle:cO MXSymbolGetAtomicSymbolInfo:oOONOOOOO
    MXImperativeInvokeEx:oicnOiccO MXLPrepare:ciccicO MXLCall2:ooo:o MXLCall1Float:ood:o MXLGetLiveHandles:Q
    MXNDArrayCreateEx64:ciiiiiO MXNDArrayFree:o MXShallowCopyNDArray:oO MXNDArraySyncCopyFromCPU:ocz
    MXNDArraySyncCopyToCPU:ocz MXNDArrayGetShapeEx64:onO MXNDArrayGetDType:on MXNDArrayReshape64:oicbO
    MXNDArraySlice64:oqqO MXNDArrayDetach:oO MXNDArrayGetGrad:oO MXNDArraySave:cIcc MXNDArrayLoad:cNONO
    MXAutogradSetIsRecording:in MXAutogradSetIsTraining:in MXSetIsNumpyShape:in MXAutogradIsRecording:B
    MXAutogradIsTraining:B MXAutogradMarkVariables:Iccc MXAutogradBackwardEx:IccIciiiOO
);
for (@functions) {
    my ($name, $arguments, $result) = split /:/;
    $ffi->attach([$name => "Mxlite::C::$name"], [map { $type{$_} } split //, $arguments], $type{ $result // 'i' });
}

# What a pointer leads to: a string, pointers, strings.
sub _string($pointer) { unpack 'p', pack 'J', $pointer }
sub _pointers($pointer, $count) { $count > 0 ? unpack 'j*', unpack 'P' . 8 * $count, pack 'J', $pointer : () }
sub _strings($pointer, $count) { map { _string($_) } _pointers($pointer, $count) }

sub _fail($message) {
    my $depth = 0;
    $depth++ while (caller $depth)[0] =~ /^Mxlite\b/;
    my (undef, $file, $line) = caller $depth;
    die bless { message => $message, file => $file, line => $line }, 'Mxlite::Error';
}
sub _check($status) { $status == 0 or _fail(Mxlite::C::MXGetLastError()) }

package Mxlite::Error {    # "$@" is Perl's usual line, $@->message the library's alone
    use overload '""' => sub ($e, @) { "$e->{message} at $e->{file} line $e->{line}.\n" }, fallback => 1;
    sub message($e) { $e->{message} }
}

# ---- operators ----

my %op;    # by name: handle, names of inputs, whether there may be any number, the parameter that counts them

sub _describe($name) {
    _check(Mxlite::C::NNGetOpHandle($name, \my $handle));
    _check(Mxlite::C::MXSymbolGetAtomicSymbolInfo(
        $handle, \my $first, \my $about, \my $count, \my $names, \my $types, \my $texts, \my $counts, \my $result));
    my @names = _strings($names, $count);
    my @kinds = _strings($types, $count);
    my @inputs = grep { $kinds[$_] =~ /^NDArray/ } 0 .. $#names;
    return {
        handle => $handle,
        inputs => { map { $names[ $inputs[$_] ] => $_ } 0 .. $#inputs },
        counts => defined $counts ? _string($counts) : '',
    };
}

sub _text($value) {
    return 'None' unless defined $value;
    return '(' . join(', ', map { _text($_) } @$value) . (@$value == 1 ? ',)' : ')') if ref $value eq 'ARRAY';
    my $text = "$value";
    return looks_like_number($value) && $text != $value && $value == $value ? sprintf '%.17g', $value : $text;
}

# op(NAME, arrays ..., parameter => value ..., input => array ..., out => array or [arrays]): its outputs.
sub op($name, @arguments) {
    my $op = $op{$name} //= _describe($name);
    my (@inputs, @keys, @values, @out);
    push @inputs, ref $arguments[0] eq 'ARRAY' ? @{ shift @arguments } : shift @arguments
        while @arguments && ref $arguments[0];
    _fail("$name: parameters come as name => value, one value is missing") if @arguments % 2;
    while (my ($key, $value) = splice @arguments, 0, 2) {
        if ($key eq 'out') {
            @out = ref $value eq 'ARRAY' ? @$value : $value;
        } elsif (blessed $value && $value->isa('Mxlite::Array')) {
            $inputs[ $op->{inputs}{$key} // _fail("$name: there is no input $key") ] = $value;
        } else {
            push @keys,   $key;
            push @values, _text($value);
        }
    }
    if ($op->{counts} && !grep { $_ eq $op->{counts} } @keys) {
        push @keys,   $op->{counts};
        push @values, scalar @inputs;
    }
    my $handles = _handles(@out);
    my ($count, $list) = (scalar @out, @out ? unpack('J', pack 'P', $handles) : undef);
    _check(Mxlite::C::MXImperativeInvokeEx(
        $op->{handle}, scalar @inputs, _handles(@inputs), \$count, \$list,
        scalar @keys, pack('p*', @keys), pack('p*', @values), \my $stypes));
    my @outputs = @out ? @out : map { _own($_) } _pointers($list, $count);
    _fail("$name: one output was expected, $count came; call it in list context") if !wantarray && @outputs > 1;
    return wantarray ? @outputs : $outputs[0];
}

# Packed handles of arrays.
sub _handles(@arrays) {
    for (@arrays) {
        _fail('an array was expected, ' . ($_ // 'undef') . ' came') unless blessed $_ && $_->isa('Mxlite::Array');
    }
    return pack 'J*', map { $$_ } @arrays;
}

# Owns a new handle.
sub _own($handle) { bless \$handle, 'Mxlite::Array' }

# ---- scopes: record { ... } as record(sub { ... }), or my $scope = record ----

sub _scope($flags, $body) {
    my $scope = bless [], 'Mxlite::Scope';
    while (my ($set, $value) = splice @$flags, 0, 2) {
        $set->($value, \my $before);
        push @$scope, [$set, $before];
    }
    return $body ? $body->() : $scope;
}
sub Mxlite::Scope::DESTROY($scope) {
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    $_->[0]->($_->[1], \my $ignored) for @$scope;
}

my ($recording, $training) = (\&Mxlite::C::MXAutogradSetIsRecording, \&Mxlite::C::MXAutogradSetIsTraining);
sub record($body = undef) { _scope([$recording, 1, $training, 1], $body) }
sub pause($body = undef) { _scope([$recording, 0, $training, 0], $body) }
sub train_mode($body = undef) { _scope([$training, 1], $body) }
sub predict_mode($body = undef) { _scope([$training, 0], $body) }
sub numpy_shape($body = undef) { _scope([\&Mxlite::C::MXSetIsNumpyShape, 1], $body) }

sub is_recording() { _check(Mxlite::C::MXAutogradIsRecording(\my $on)); $on }
sub is_training() { _check(Mxlite::C::MXAutogradIsTraining(\my $on)); $on }

# ---- gradients ----

sub _backward($heads, $variables, %how) {
    my @ograds = @{ $how{head_grads} // [] };
    my ($n, $m) = (scalar @$heads, scalar @ograds);
    _fail("backward: $n head gradients were expected, $m came") if $m && $m != $n;
    _check(Mxlite::C::MXAutogradBackwardEx(
        $n, _handles(@$heads), $m ? _handles(@ograds) : undef, scalar @$variables, _handles(@$variables),
        $how{retain_graph} // $how{create_graph} ? 1 : 0, $how{create_graph} ? 1 : 0, $how{train} // 1, \my $grads, \my $stypes));
    return map { _own($_) } _pointers($grads, scalar @$variables);
}

# backward([heads], head_grads => [...], retain_graph => 1, train => 0): into the gradients of the variables.
# The graph is retained with create_graph, where nothing else is said.
sub backward($heads, %how) { _backward($heads, [], %how); return }

# grad([heads], [variables], create_graph => 1, ...): new arrays; with create_graph they have gradients themselves.
sub grad($heads, $variables, %how) {
    _fail('grad: at least one variable was expected, none came') unless @$variables;
    my @grads = _backward($heads, $variables, %how);
    return wantarray ? @grads : $grads[0];
}

# ---- files, process ----

# save(FILE, name => array, ...), and load(FILE), which gives such pairs (positions where the file has no names).
sub save($file, @pairs) {
    my @names  = map { "$pairs[2 * $_]" } 0 .. $#pairs / 2;
    my @arrays = map { $pairs[2 * $_ + 1] } 0 .. $#names;
    _check(Mxlite::C::MXNDArraySave($file, scalar @arrays, _handles(@arrays), pack 'p*', @names));
}
sub load($file) {
    _check(Mxlite::C::MXNDArrayLoad($file, \my $count, \my $list, \my $named, \my $names));
    my @arrays = map { _own($_) } _pointers($list, $count);
    my @names = $named ? _strings($names, $named) : 0 .. $#arrays;
    return map { $names[$_] => $arrays[$_] } 0 .. $#arrays;
}

sub seed($seed) { _check(Mxlite::C::MXRandomSeed($seed)) }
sub live_handles() { _check(Mxlite::C::MXLGetLiveHandles(\my $count)); $count }

# ---- arrays ----

my @dtypes = (['float32', 'f', 4], ['float64', 'd', 8], ['float16', '', 2], ['uint8', 'C', 1], ['int32', 'l', 4],
    ['int8', 'c', 1], ['int64', 'q', 8], ['bool', 'C', 1]);
my %flag = map { $dtypes[$_][0] => $_ } 0 .. $#dtypes;

# array([[1, 2], [3, 4]], dtype => 'int32'), or values as a flat list and shape => [2, 2].
sub array($values, %how) {
    my ($shape, $dtype) = ($how{shape}, $how{dtype} // 'float32');
    my @flat = ($values);
    if (!ref $values) {
        $shape //= [1];
    } elsif (!$shape) {
        for (my $level = $values; ref $level eq 'ARRAY'; $level = $level->[0]) {
            push @$shape, scalar @$level;
            @flat = map { ref $_ eq 'ARRAY' && @$_ == $shape->[-1] ? @$_ : _fail('array: rows of several lengths') } @flat;
        }
    } else {
        @flat = @$values;
    }
    return array(\@flat, shape => $shape)->cast('float16') if $dtype eq 'float16';
    my $flag = $flag{$dtype} // _fail("array: there is no dtype $dtype");
    @flat = map { $_ ? 1 : 0 } @flat if $dtype eq 'bool';
    _check(Mxlite::C::MXNDArrayCreateEx64(pack('q*', @$shape), scalar @$shape, 1, 0, 0, $flag, \my $handle));
    return _own($handle)->copy_from(\@flat);
}

package Mxlite::Array {
    # What an operator symbol calls: of two arrays, of array and number, of number and array.
    sub _arithmetic($arrays, $of_right, $of_left) {
        my ($both, $right, $left) = (_prepare($arrays), _prepare($of_right, 'scalar'), _prepare($of_left, 'scalar'));
        return sub ($x, $y, $swapped) {
            my $handle;
            if (ref $y eq __PACKAGE__) {
                $handle = Mxlite::C::MXLCall2($both, $$x, $$y);
            } elsif (Scalar::Util::looks_like_number($y)) {
                $handle = Mxlite::C::MXLCall1Float($swapped ? $left : $right, $$x, $y);
            } else {
                Mxlite::_fail("$arrays: an array or a number was expected");
            }
            return defined $handle ? bless \$handle : Mxlite::_fail(Mxlite::C::MXGetLastError());
        };
    }
    sub _prepare($name, @arguments) {
        my $names = pack 'p*', @arguments;
        Mxlite::_check(Mxlite::C::MXLPrepare($name, 0, undef, undef, scalar @arguments, $names, \my $call));
        return $call;
    }
    sub _unary($name) { sub ($x, @) { scalar Mxlite::op($name, $x) } }

    use overload
        '""'   => sub ($x, @) { 'Mxlite::Array(' . $x->dtype . ', [' . join(', ', $x->shape) . '])' },
        'bool' => sub { 1 },
        '=='   => sub ($x, $y, @) { Scalar::Util::refaddr($x) == (Scalar::Util::refaddr($y) // 0) };
    overload->import(
        '+'  => _arithmetic(qw(broadcast_add _plus_scalar _plus_scalar)),
        '-'  => _arithmetic(qw(broadcast_sub _minus_scalar _rminus_scalar)),
        '*'  => _arithmetic(qw(broadcast_mul _mul_scalar _mul_scalar)),
        '/'  => _arithmetic(qw(broadcast_div _div_scalar _rdiv_scalar)),
        '%'  => _arithmetic(qw(broadcast_mod _mod_scalar _rmod_scalar)),
        '**' => _arithmetic(qw(broadcast_power _power_scalar _rpower_scalar)),
        neg  => _unary('negative'),
        map { $_ => _unary($_) } qw(abs exp log sqrt sin cos),
    );

    # A new interpreter thread gets no copies: two owners would free one handle.
    sub CLONE_SKIP { 1 }

    sub DESTROY($x) {
        my $handle = $$x;
        return if !$handle || ${^GLOBAL_PHASE} eq 'DESTRUCT';
        $$x = undef;    # an explicit DESTROY leaves nothing to be freed again
        Mxlite::C::MXNDArrayFree($handle);
    }

    sub dtype($x) {
        Mxlite::_check(Mxlite::C::MXNDArrayGetDType($$x, \my $flag));
        return $flag < 0 ? 'none' : $dtypes[$flag][0];
    }
    sub shape($x) {
        Mxlite::_check(Mxlite::C::MXNDArrayGetShapeEx64($$x, \my $count, \my $list));
        return Mxlite::_pointers($list, $count);
    }
    sub size($x) { my $size = 1; $size *= $_ for $x->shape; $size }

    # The values in C order; one value; lists in lists.
    sub list($x) {
        my (undef, $letter, $width) = @{ $dtypes[ $flag{ $x->dtype } // Mxlite::_fail('list: the array has no dtype') ] };
        return $x->cast('float32')->list unless $letter;
        my $size = $x->size;
        my $bytes = "\0" x ($size * $width);
        Mxlite::_check(Mxlite::C::MXNDArraySyncCopyToCPU($$x, $bytes, $size));
        return unpack "$letter*", $bytes;
    }
    sub item($x) {
        my @values = $x->list;
        return @values == 1 ? $values[0] : Mxlite::_fail('item: one element was expected, ' . @values . ' came');
    }
    sub nested($x) {
        my @values = $x->list;
        my (undef, @inner) = $x->shape;
        for my $extent (reverse @inner) {
            @values = map { [splice @values, 0, $extent] } 1 .. ($extent ? @values / $extent : 0);
        }
        return \@values;
    }
    sub copy_from($x, $values) {
        my $dtype = $x->dtype;
        my $letter = $dtypes[ $flag{$dtype} // 2 ][1];
        Mxlite::_fail("copy_from: elements of $dtype cannot be written; cast an array to it") unless $letter;
        # Perl packs as infinite what lies above the greatest float32, though it may round to that.
        my ($most, $next) = (unpack('f', pack 'V', 0x7f7fffff), 3.4028235677973366e38);
        my $near = $letter eq 'f' && grep { abs > $most && abs() < $next } @$values;
        my @fit = $near ? map { abs > $most && abs() < $next ? $most * ($_ <=> 0) : $_ } @$values : ();
        my $packed = pack "$letter*", $near ? @fit : @$values;
        Mxlite::_check(Mxlite::C::MXNDArraySyncCopyFromCPU($$x, $packed, scalar @$values));
        return $x;
    }

    sub cast($x, $dtype) { scalar Mxlite::op('Cast', $x, dtype => $dtype) }
    sub _from($x, $function, @arguments) {
        Mxlite::_check($function->($$x, @arguments, \my $handle));
        return defined $handle ? Mxlite::_own($handle) : undef;
    }
    sub detach($x) { $x->_from(\&Mxlite::C::MXNDArrayDetach) }
    sub share($x) { $x->_from(\&Mxlite::C::MXShallowCopyNDArray) }
    sub rows($x, $begin, $end) { $x->_from(\&Mxlite::C::MXNDArraySlice64, $begin, $end) }
    sub view($x, @shape) { $x->_from(\&Mxlite::C::MXNDArrayReshape64, scalar @shape, pack('q*', @shape), 0) }

    sub grad($x) { $x->_from(\&Mxlite::C::MXNDArrayGetGrad) }
    sub attach_grad($x) {
        my $buffer = Mxlite::pause(sub { scalar Mxlite::op('zeros_like', $x) });
        Mxlite::_check(Mxlite::C::MXAutogradMarkVariables(1, pack('J', $$x), pack('L', 1), pack('J', $$buffer)));
        return $x;
    }
    sub backward($x, @how) { Mxlite::backward([$x], @how) }
}

# Functions of Mxlite::Op, and methods of arrays where none of that name stands above.
sub _generate() {
    _check(Mxlite::C::MXListAllOpNames(\my $count, \my $list));
    for my $name (_strings($list, $count)) {
        my $function = sub (@arguments) { op($name, @arguments) };
        no strict 'refs';
        *{"Mxlite::Op::$name"} = $function;
        *{"Mxlite::Array::$name"} = $function unless defined &{"Mxlite::Array::$name"};
    }
}
_generate();

1;

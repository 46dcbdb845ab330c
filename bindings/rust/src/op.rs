//! Operators by name, and Rust's own operators.
use crate::{c_text, check, string, sys, Array, Error, Result};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A value of a parameter, as the text that the library parses.
pub trait Text {
    /// That text.
    fn text(&self) -> String;
}

macro_rules! text {
    ($($kind:ty: $value:ident => $text:expr),* $(,)?) => {
        $(impl Text for $kind { fn text(&self) -> String { let $value = self; $text } })*
    };
}
text! {
    i32: v => v.to_string(), i64: v => v.to_string(), u32: v => v.to_string(), usize: v => v.to_string(),
    f32: v => format!("{:?}", v), f64: v => format!("{:?}", v),
    bool: v => if *v { "True" } else { "False" }.to_string(),
    &str: v => v.to_string(), String: v => v.clone(), crate::DType: v => v.name().to_string(),
    &[i64]: v => tuple(v), &[usize]: v => tuple(v), Vec<i64>: v => tuple(v), Vec<usize>: v => tuple(v),
}
impl<const N: usize> Text for [i64; N] {
    fn text(&self) -> String {
        tuple(self)
    }
}
impl<T: Text> Text for Option<T> {
    fn text(&self) -> String {
        self.as_ref().map_or("None".to_string(), Text::text)
    }
}

fn tuple<T: ToString>(values: &[T]) -> String {
    format!("({})", values.iter().map(|value| value.to_string() + ",").collect::<String>())
}

/// What an operator takes: `()`, `&x`, `[&a, &b]` or a slice of references.
pub trait Inputs<'a> {
    /// The arrays in order.
    fn list(self) -> Vec<&'a Array>;
}
macro_rules! inputs {
    ($([$($generic:tt)*] $kind:ty: $value:ident => $list:expr;)*) => {
        $(impl<'a, $($generic)*> Inputs<'a> for $kind { fn list(self) -> Vec<&'a Array> { let $value = self; $list } })*
    };
}
inputs! {
    [] (): _none => Vec::new();
    [] &'a Array: array => vec![array];
    [const N: usize] [&'a Array; N]: arrays => arrays.to_vec();
    [] &[&'a Array]: arrays => arrays.to_vec();
}

/// A call in the making: an operator, its inputs and parameters. Of a `Kind` that [`crate::ops`] has, parameters are
/// methods.
#[must_use = "nothing runs before `call`"]
pub struct Op<'a, Kind = ()> {
    name: String,
    inputs: Vec<&'a Array>,
    params: Vec<(String, String)>,
    kind: PhantomData<Kind>,
}

/// An operator by name: `op("softmax", &x).arg("axis", 1).call()?`.
pub fn op<'a>(name: &str, inputs: impl Inputs<'a>) -> Op<'a> {
    Op::new(name, inputs)
}

/// The handle of an operator, and the parameter that counts its inputs, if there is one.
fn find(name: &str) -> Result<(sys::OpHandle, String)> {
    let (c_name, mut handle, mut n) = (c_text(name)?, null_mut(), 0);
    let (mut texts, mut lists) = ([null(); 3], [null_mut(); 3]);
    let ([first, about, counts], [names, types, about_each]) = (&mut texts, &mut lists);
    // Everything that is returned lives as long as the process.
    unsafe {
        check(sys::NNGetOpHandle(c_name.as_ptr(), &mut handle))?;
        let ask = sys::MXSymbolGetAtomicSymbolInfo;
        check(ask(handle, first, about, &mut n, names, types, about_each, counts, null_mut()))?;
        Ok((handle, string(texts[2])))
    }
}

impl<'a, Kind> Op<'a, Kind> {
    pub(crate) fn new(name: &str, inputs: impl Inputs<'a>) -> Self {
        Op { name: name.to_string(), inputs: inputs.list(), params: Vec::new(), kind: PhantomData }
    }
    /// Sets a parameter.
    pub fn arg(mut self, key: &str, value: impl Text) -> Self {
        self.params.push((key.to_string(), value.text()));
        self
    }
    /// Runs the operator; an error unless it has one output.
    pub fn call(self) -> Result<Array> {
        let mut outputs = self.run(&[])?;
        match outputs.len() {
            1 => Ok(outputs.remove(0)),
            n => Err(Error::new(format!("{}: call: one output was expected, {} came; use call_all", self.name, n))),
        }
    }
    /// Runs the operator and gives all its outputs.
    pub fn call_all(self) -> Result<Vec<Array>> {
        self.run(&[])
    }
    /// Runs the operator and writes its outputs into these arrays.
    pub fn call_into(self, outputs: &[&Array]) -> Result<()> {
        if outputs.is_empty() {
            return Err(Error::new(format!("{}: call_into: no outputs were given", self.name)));
        }
        self.run(outputs).map(drop)
    }

    fn run(&self, given: &[&Array]) -> Result<Vec<Array>> {
        let ((handle, counts), mut params) = (find(&self.name)?, self.params.clone());
        if !counts.is_empty() && !params.iter().any(|param| param.0 == counts) {
            params.push((counts, self.inputs.len().to_string()));
        }
        let text = |param: &(String, String)| Ok((c_text(&param.0)?, c_text(&param.1)?));
        let texts = params.iter().map(text).collect::<Result<Vec<_>>>()?;
        let mut keys: Vec<_> = texts.iter().map(|t| t.0.as_ptr()).collect();
        let mut values: Vec<_> = texts.iter().map(|t| t.1.as_ptr()).collect();
        let (mut inputs, mut outputs) = (Array::handles(&self.inputs), Array::handles(given));
        let mut list = if given.is_empty() { null_mut() } else { outputs.as_mut_ptr() };
        let (mut n, m, p, mut stypes) = (given.len() as c_int, inputs.len() as c_int, keys.len() as c_int, null());
        let (ins, keys, values) = (inputs.as_mut_ptr(), keys.as_mut_ptr(), values.as_mut_ptr());
        // All that is pointed at lives until the call returns; new handles lie in a buffer that is lent until the
        // next call, and are taken over at once.
        unsafe {
            check(sys::MXImperativeInvokeEx(handle, m, ins, &mut n, &mut list, p, keys, values, &mut stypes))?;
            Ok(if given.is_empty() { Array::take_lent(list, n as usize) } else { Vec::new() })
        }
    }
}

/// The calls that an operator of Rust's stands for: of two arrays, of array and number, of number and array. Each is
/// prepared once: the library gives the same handle to the same request, and it lives as long as the process, so
/// threads may race.
pub struct Arithmetic([(&'static str, AtomicPtr<c_void>); 3]);

impl Arithmetic {
    fn prepared(&self, form: usize) -> Result<sys::MXLCallHandle> {
        let (name, slot) = &self.0[form];
        let mut call = slot.load(Relaxed);
        if call.is_null() {
            let (c_name, mut arguments) = (c_text(name)?, [b"scalar\0".as_ptr().cast::<c_char>()]);
            let (none, n) = (null_mut(), (form > 0) as c_int);
            check(unsafe { sys::MXLPrepare(c_name.as_ptr(), 0, none, none, n, arguments.as_mut_ptr(), &mut call) })?;
            slot.store(call, Relaxed);
        }
        Ok(call)
    }
    fn arrays(&self, a: &Array, b: &Array) -> Array {
        expect(self.prepared(0).and_then(|call| Array::take(unsafe { sys::MXLCall2(call, a.0, b.0) })))
    }
    fn number(&self, form: usize, a: &Array, v: f64) -> Array {
        expect(self.prepared(form).and_then(|call| Array::take(unsafe { sys::MXLCall1Float(call, a.0, v) })))
    }
}

fn expect(result: Result<Array>) -> Array {
    result.unwrap_or_else(|error| panic!("{}", error))
}

/// What may stand at the right of an array: an array, or a number.
pub trait Operand {
    /// What comes of it.
    fn right_of(self, left: &Array, how: &Arithmetic) -> Array;
}
impl Operand for &Array {
    fn right_of(self, left: &Array, how: &Arithmetic) -> Array {
        how.arrays(left, self)
    }
}
impl Operand for Array {
    fn right_of(self, left: &Array, how: &Arithmetic) -> Array {
        how.arrays(left, &self)
    }
}
impl Operand for f64 {
    fn right_of(self, left: &Array, how: &Arithmetic) -> Array {
        how.number(1, left, self)
    }
}

// `a + b` of arrays, with broadcasting, and of an array and a number. They panic with the library's message where
// the call fails; `ops::broadcast_add` and its like return it.
macro_rules! arithmetic {
    ($kind:ident, $method:ident, $how:ident, $($name:literal),*) => {
        static $how: Arithmetic = Arithmetic([$(($name, AtomicPtr::new(null_mut()))),*]);
        arithmetic!(@for [T: Operand] Array, T, $kind, $method, (left, right) => right.right_of(&left, &$how));
        arithmetic!(@for [T: Operand] &Array, T, $kind, $method, (left, right) => right.right_of(left, &$how));
        arithmetic!(@for [] f64, Array, $kind, $method, (left, right) => $how.number(2, &right, left));
        arithmetic!(@for [] f64, &Array, $kind, $method, (left, right) => $how.number(2, right, left));
    };
    (@for [$($generic:tt)*] $left:ty, $right:ty, $kind:ident, $method:ident, ($a:ident, $b:ident) => $result:expr) => {
        impl<$($generic)*> std::ops::$kind<$right> for $left {
            type Output = Array;
            fn $method(self, $b: $right) -> Array {
                let $a = self;
                $result
            }
        }
    };
}
arithmetic!(Add, add, ADD, "broadcast_add", "_plus_scalar", "_plus_scalar");
arithmetic!(Sub, sub, SUB, "broadcast_sub", "_minus_scalar", "_rminus_scalar");
arithmetic!(Mul, mul, MUL, "broadcast_mul", "_mul_scalar", "_mul_scalar");
arithmetic!(Div, div, DIV, "broadcast_div", "_div_scalar", "_rdiv_scalar");

impl std::ops::Neg for &Array {
    type Output = Array;
    fn neg(self) -> Array {
        expect(op("negative", self).call())
    }
}

//! Operators by name, and Rust's own operators.
use crate::{check, sys, Array, Error, Result};
use std::ffi::{c_void, CString};
use std::os::raw::{c_char, c_int};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

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
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("({}{})", texts.join(", "), if values.len() == 1 { "," } else { "" })
}

/// What an operator of [`crate::ops`] takes: `()`, `&x`, `[&a, &b]` or a slice of references.
pub trait Inputs<'a> {
    /// The arrays in order.
    fn list(self) -> Vec<&'a Array>;
}
impl<'a> Inputs<'a> for () {
    fn list(self) -> Vec<&'a Array> {
        Vec::new()
    }
}
impl<'a> Inputs<'a> for &'a Array {
    fn list(self) -> Vec<&'a Array> {
        vec![self]
    }
}
impl<'a, const N: usize> Inputs<'a> for [&'a Array; N] {
    fn list(self) -> Vec<&'a Array> {
        self.to_vec()
    }
}
impl<'a> Inputs<'a> for &[&'a Array] {
    fn list(self) -> Vec<&'a Array> {
        self.to_vec()
    }
}

/// A call in the making: a name and parameters.
#[must_use = "nothing runs before `call`"]
pub struct Op {
    name: String,
    params: Vec<(String, String)>,
}

/// An operator by name: `op("softmax").arg("axis", 1).call(&[&x])?`.
pub fn op(name: &str) -> Op {
    Op { name: name.to_string(), params: Vec::new() }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(format!("{:?}: a name or value with a NUL in it", text)))
}

/// The handle of an operator, and the parameter that counts its inputs.
fn find(name: &str) -> Result<(sys::OpHandle, *const c_char)> {
    let (c_name, mut handle) = (c_text(name)?, ptr::null_mut());
    let (mut s, mut lists, mut count, mut n) = ([ptr::null(); 2], [ptr::null_mut(); 3], ptr::null(), 0);
    let [first, about] = &mut s;
    let [names, types, texts] = &mut lists;
    // Everything that is returned lives as long as the process.
    unsafe {
        check(sys::NNGetOpHandle(c_name.as_ptr(), &mut handle))?;
        let none = ptr::null_mut();
        check(sys::MXSymbolGetAtomicSymbolInfo(handle, first, about, &mut n, names, types, texts, &mut count, none))?;
    }
    Ok((handle, count))
}

impl Op {
    /// Sets a parameter.
    pub fn arg(mut self, key: &str, value: impl Text) -> Op {
        self.params.push((key.to_string(), value.text()));
        self
    }

    /// Runs the operator; an error unless it has one output.
    pub fn call(self, inputs: &[&Array]) -> Result<Array> {
        let name = self.name.clone();
        let mut outputs = self.call_all(inputs)?;
        match outputs.len() {
            1 => Ok(outputs.remove(0)),
            n => Err(Error::new(format!("{}: call: one output was expected, {} came; use call_all", name, n))),
        }
    }

    /// Runs the operator and gives all its outputs.
    pub fn call_all(self, inputs: &[&Array]) -> Result<Vec<Array>> {
        self.run(inputs, &[])
    }

    /// Runs the operator and writes its outputs into these arrays.
    pub fn call_into(self, inputs: &[&Array], outputs: &[&Array]) -> Result<()> {
        if outputs.is_empty() {
            return Err(Error::new(format!("{}: call_into: no outputs were given", self.name)));
        }
        self.run(inputs, outputs).map(drop)
    }

    fn run(self, inputs: &[&Array], given: &[&Array]) -> Result<Vec<Array>> {
        let (handle, count) = find(&self.name)?;
        let mut texts = Vec::new();
        for (key, value) in &self.params {
            texts.push((c_text(key)?, c_text(value)?));
        }
        let number = c_text(&inputs.len().to_string())?;
        let mut keys: Vec<_> = texts.iter().map(|t| t.0.as_ptr()).collect();
        let mut values: Vec<_> = texts.iter().map(|t| t.1.as_ptr()).collect();
        // `count` lives as long as the process.
        let counts = !count.is_null() && unsafe { *count } != 0;
        if counts && !keys.iter().any(|&k| unsafe { std::ffi::CStr::from_ptr(k) == std::ffi::CStr::from_ptr(count) }) {
            keys.push(count);
            values.push(number.as_ptr());
        }
        let mut inputs = Array::handles(inputs);
        let mut outputs = Array::handles(given);
        let mut list = if given.is_empty() { ptr::null_mut() } else { outputs.as_mut_ptr() };
        let (mut n, mut stypes) = (given.len() as c_int, ptr::null());
        // All that is pointed at lives until the call returns; new handles lie in a buffer that is lent until the
        // next call, and are taken over at once.
        unsafe {
            check(sys::MXImperativeInvokeEx(
                handle,
                inputs.len() as c_int,
                inputs.as_mut_ptr(),
                &mut n,
                &mut list,
                keys.len() as c_int,
                keys.as_mut_ptr(),
                values.as_mut_ptr(),
                &mut stypes,
            ))?;
            Ok(if given.is_empty() { Array::take_lent(list, n as usize) } else { Vec::new() })
        }
    }
}

/// A call that is prepared once and then found in `slot`: the library gives the same handle to the same request, and
/// it lives as long as the process, so threads may race.
fn prepared(slot: &AtomicPtr<c_void>, name: &'static str, scalar: bool) -> Result<sys::MXLCallHandle> {
    let mut call = slot.load(Ordering::Relaxed);
    if call.is_null() {
        let (c_name, mut arguments) = (c_text(name)?, [b"scalar\0".as_ptr().cast::<c_char>()]);
        let (none, n) = (ptr::null_mut(), scalar as c_int);
        check(unsafe { sys::MXLPrepare(c_name.as_ptr(), 0, none, none, n, arguments.as_mut_ptr(), &mut call) })?;
        slot.store(call, Ordering::Relaxed);
    }
    Ok(call)
}

fn expect(result: Result<Array>) -> Array {
    result.unwrap_or_else(|error| panic!("{}", error))
}

fn call2(slot: &AtomicPtr<c_void>, name: &'static str, a: &Array, b: &Array) -> Array {
    expect(prepared(slot, name, false).and_then(|call| Array::take(unsafe { sys::MXLCall2(call, a.raw(), b.raw()) })))
}

fn call1(slot: &AtomicPtr<c_void>, name: &'static str, a: &Array, v: f64) -> Array {
    expect(prepared(slot, name, true).and_then(|call| Array::take(unsafe { sys::MXLCall1Float(call, a.raw(), v) })))
}

// `a + b` of arrays, with broadcasting, and of an array and a number. They panic with the library's message where
// the call fails; `ops::broadcast_add` and its like return it.
macro_rules! arithmetic {
    ($kind:ident, $method:ident, $arrays:literal, $right:literal, $left:literal) => {
        arithmetic!(@pair $kind, $method, $arrays, &Array, &Array);
        arithmetic!(@pair $kind, $method, $arrays, Array, &Array);
        arithmetic!(@pair $kind, $method, $arrays, &Array, Array);
        arithmetic!(@pair $kind, $method, $arrays, Array, Array);
        arithmetic!(@number $kind, $method, $right, $left, &Array);
        arithmetic!(@number $kind, $method, $right, $left, Array);
    };
    (@pair $kind:ident, $method:ident, $name:literal, $a:ty, $b:ty) => {
        impl std::ops::$kind<$b> for $a {
            type Output = Array;
            fn $method(self, other: $b) -> Array {
                static CALL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                call2(&CALL, $name, &self, &other)
            }
        }
    };
    (@number $kind:ident, $method:ident, $right:literal, $left:literal, $a:ty) => {
        impl std::ops::$kind<f64> for $a {
            type Output = Array;
            fn $method(self, other: f64) -> Array {
                static CALL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                call1(&CALL, $right, &self, other)
            }
        }
        impl std::ops::$kind<$a> for f64 {
            type Output = Array;
            fn $method(self, other: $a) -> Array {
                static CALL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                call1(&CALL, $left, &other, self)
            }
        }
    };
}
arithmetic!(Add, add, "broadcast_add", "_plus_scalar", "_plus_scalar");
arithmetic!(Sub, sub, "broadcast_sub", "_minus_scalar", "_rminus_scalar");
arithmetic!(Mul, mul, "broadcast_mul", "_mul_scalar", "_mul_scalar");
arithmetic!(Div, div, "broadcast_div", "_div_scalar", "_rdiv_scalar");

impl std::ops::Neg for &Array {
    type Output = Array;
    fn neg(self) -> Array {
        expect(op("negative").call(&[self]))
    }
}

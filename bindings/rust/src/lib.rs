//! Arrays, operators and gradients of libmxlite, safely: what is made is freed, what fails is an [`Error`] with the
//! library's message. [`sys`] is the C API as it stands.
//!
//! ```
//! use mxlite::{autograd, ops, Array};
//! # fn main() -> mxlite::Result<()> {
//! let x = Array::from_slice(&[1.0f32, 2.0, 3.0], &[3])?;
//! x.attach_grad()?;
//! let y = autograd::with_record(|| ops::sum(&(&x * &x)).axis(0).call())?;
//! y.backward()?;
//! assert_eq!(x.grad()?.unwrap().to_vec::<f32>()?, [2.0, 4.0, 6.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Recording belongs to a thread, so its guards stay on it:
//! ```compile_fail
//! let guard = mxlite::autograd::record();
//! std::thread::spawn(move || drop(guard));
//! ```
//! An array may move to another thread; two threads share one by a clone each, not by a reference:
//! ```compile_fail
//! let x = mxlite::Array::scalar(1.0f32).unwrap();
//! std::thread::scope(|s| { s.spawn(|| x.shape()); });
//! ```
#![warn(missing_docs)]
mod array;
pub mod autograd;
mod op;
#[allow(missing_docs)]
#[rustfmt::skip]
pub mod sys;

pub use array::{load, save, Array, DType, Element};
pub use op::{op, Inputs, Op, Text};
use std::os::raw::{c_char, c_int};
use std::{ffi::CStr, ffi::CString, fmt};

/// What the library says about a call that failed: one line, `operator: what is wrong, what was expected, what came`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);
/// The result of whatever can fail.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    fn new(message: impl Into<String>) -> Error {
        Error(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

fn check(status: c_int) -> Result<()> {
    match status {
        0 => Ok(()),
        // The line is valid until this thread's next failure.
        _ => Err(Error::new(unsafe { string(sys::MXGetLastError()) })),
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(format!("{:?}: a text with a NUL in it", text)))
}
/// A copy of a text of the library's; of none, "".
unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        String::new()
    } else {
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }
}

/// Seeds the generator of the random operators.
pub fn seed(seed: i32) -> Result<()> {
    check(unsafe { sys::MXRandomSeed(seed) })
}

/// How many handles of arrays are alive in the process.
pub fn live_handles() -> Result<i64> {
    let mut count = 0;
    check(unsafe { sys::MXLGetLiveHandles(&mut count) }).map(|()| count)
}

macro_rules! operator {
    ($name:ident, $text:literal, $about:literal, $(($param:ident, $key:literal, $kind:ty, $what:literal),)*) => {
        #[doc = $about]
        pub enum $name {}
        #[doc = $about]
        pub fn $name<'a>(inputs: impl Inputs<'a>) -> Op<'a, $name> {
            Op::new($text, inputs)
        }
        impl<'a> Op<'a, $name> {
            $(#[doc = $what]
            pub fn $param(self, value: $kind) -> Self {
                self.arg($key, value)
            })*
        }
    };
}

/// A builder for every operator of the library that the crate was built with, made from its introspection:
/// `ops::softmax(&x).axis(0).call()?`, `ops::dot([&a, &b]).transpose_a(true).call()?`.
#[allow(non_camel_case_types, non_snake_case, rustdoc::all, missing_docs)]
pub mod ops {
    use crate::{Inputs, Op, Text};
    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

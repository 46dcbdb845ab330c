//! Recording and gradients. Flags belong to the calling thread; a [`Scope`] puts them back when it is dropped.
use crate::{check, sys, Array, Error, Result};
use std::{marker::PhantomData, os::raw::c_int, ptr};

type Set = unsafe extern "C" fn(c_int, *mut c_int) -> c_int;

/// Flags of this thread that were set; dropping it (end of block, `?`, panic) restores them.
#[must_use = "the flags are restored when this is dropped"]
pub struct Scope {
    before: Vec<(Set, c_int)>,
    on_this_thread: PhantomData<*const ()>,
}

fn scope(flags: &[(Set, bool)]) -> Scope {
    let change = |&(set, value): &(Set, bool)| {
        let mut before = 0;
        // It fails for a NULL pointer only.
        unsafe { set(value as c_int, &mut before) };
        (set, before)
    };
    Scope { before: flags.iter().map(change).collect(), on_this_thread: PhantomData }
}

impl Drop for Scope {
    fn drop(&mut self) {
        let mut ignored = 0;
        for &(set, before) in &self.before {
            unsafe { set(before, &mut ignored) };
        }
    }
}

/// Records, in training mode.
pub fn record() -> Scope {
    scope(&[(sys::MXAutogradSetIsRecording, true), (sys::MXAutogradSetIsTraining, true)])
}
/// Does not record, in predicting mode.
pub fn pause() -> Scope {
    scope(&[(sys::MXAutogradSetIsRecording, false), (sys::MXAutogradSetIsTraining, false)])
}
/// Training mode (of Dropout and its like) or predicting mode; recording stays as it is.
pub fn training(on: bool) -> Scope {
    scope(&[(sys::MXAutogradSetIsTraining, on)])
}
/// Numpy-shape mode: 0 is an empty axis, `()` a scalar.
pub fn numpy_shape(on: bool) -> Scope {
    scope(&[(sys::MXSetIsNumpyShape, on)])
}
/// Runs a closure under [`record`].
pub fn with_record<R>(body: impl FnOnce() -> R) -> R {
    let _scope = record();
    body()
}
/// Runs a closure under [`pause`].
pub fn with_pause<R>(body: impl FnOnce() -> R) -> R {
    let _scope = pause();
    body()
}

fn is_set(get: unsafe extern "C" fn(*mut bool) -> c_int) -> bool {
    let mut on = false;
    // It fails for a NULL pointer only.
    unsafe { get(&mut on) };
    on
}
/// Whether this thread records.
pub fn is_recording() -> bool {
    is_set(sys::MXAutogradIsRecording)
}
/// Whether this thread is in training mode.
pub fn is_training() -> bool {
    is_set(sys::MXAutogradIsTraining)
}

/// How a backward goes; `Options::default()` is that of [`Array::backward`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The graph can be used again.
    pub retain_graph: bool,
    /// The gradients are recorded themselves, so that they have gradients; the graph is retained.
    pub create_graph: bool,
    /// The training flag while it runs.
    pub train: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { retain_graph: false, create_graph: false, train: true }
    }
}

fn run(heads: &[&Array], head_grads: &[&Array], variables: &[&Array], how: Options) -> Result<Vec<Array>> {
    if !head_grads.is_empty() && head_grads.len() != heads.len() {
        let (n, m) = (heads.len(), head_grads.len());
        return Err(Error::new(format!("backward: {} head gradients were expected, {} came", n, m)));
    }
    let (mut heads, mut ograds, mut vars) =
        (Array::handles(heads), Array::handles(head_grads), Array::handles(variables));
    let (n, m, mut grads, mut stypes) = (heads.len() as u32, vars.len() as u32, ptr::null_mut(), ptr::null_mut());
    let (from, to) = (heads.as_mut_ptr(), vars.as_mut_ptr());
    let given = if ograds.is_empty() { ptr::null_mut() } else { ograds.as_mut_ptr() };
    let [keep, create, train] = [how.retain_graph || how.create_graph, how.create_graph, how.train].map(c_int::from);
    // The vectors live until the call returns; the handles in the lent list are new and are taken over at once.
    unsafe {
        check(sys::MXAutogradBackwardEx(n, from, given, m, to, keep, create, train, &mut grads, &mut stypes))?;
        Ok(Array::take_lent(grads, vars.len()))
    }
}

/// Gradients of the heads, into the arrays that [`Array::attach_grad`] made. `head_grads` empty: ones.
pub fn backward(heads: &[&Array], head_grads: &[&Array], how: Options) -> Result<()> {
    run(heads, head_grads, &[], how).map(drop)
}

/// Gradients of the heads with respect to variables, as new arrays. With `create_graph` they can be differentiated
/// again, to any order.
pub fn grad(heads: &[&Array], head_grads: &[&Array], variables: &[&Array], how: Options) -> Result<Vec<Array>> {
    if variables.is_empty() {
        return Err(Error::new("grad: at least one variable was expected, none came"));
    }
    run(heads, head_grads, variables, how)
}

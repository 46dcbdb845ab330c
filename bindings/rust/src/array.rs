//! Arrays: a handle that is freed once, values from and to slices, files.
use crate::{autograd, c_text, check, ops, string, sys, Error, Result};
use std::{ffi::CString, fmt, os::raw::c_int, path::Path, ptr};

/// What the elements of an array are.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum DType {
    Float32 = 0,
    Float64 = 1,
    Float16 = 2,
    UInt8 = 3,
    Int32 = 4,
    Int8 = 5,
    Int64 = 6,
    Bool = 7,
}
use DType::*;

impl DType {
    const ALL: [DType; 8] = [Float32, Float64, Float16, UInt8, Int32, Int8, Int64, Bool];
    /// Its name in parameters: `float32`.
    pub fn name(self) -> &'static str {
        ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"][self as usize]
    }
}

/// A type of Rust's that elements can have. (float16 has none: `cast` it.)
///
/// # Safety
/// The type has the layout of the dtype's elements.
pub unsafe trait Element: Copy + Default {
    /// The dtype of such elements.
    const DTYPE: DType;
}
macro_rules! elements {
    ($($kind:ty = $dtype:ident),*) => { $(unsafe impl Element for $kind { const DTYPE: DType = $dtype; })* };
}
elements!(f32 = Float32, f64 = Float64, u8 = UInt8, i32 = Int32, i8 = Int8, i64 = Int64, bool = Bool);

/// An array of the library's. Dropping it frees the handle; `clone` is another handle of the same memory.
pub struct Array(pub(crate) sys::NDArrayHandle);

// A handle is a checked integer that any thread may use; nothing of Rust's memory is behind it. It is not Sync:
// threads that share one would write to it unordered.
unsafe impl Send for Array {}

impl Drop for Array {
    fn drop(&mut self) {
        // It is ours alone and valid, so nothing can fail.
        unsafe { sys::MXNDArrayFree(self.0) };
    }
}

impl Clone for Array {
    fn clone(&self) -> Array {
        self.made(sys::MXShallowCopyNDArray).unwrap_or_else(|error| panic!("{}", error))
    }
}

type Make = unsafe extern "C" fn(sys::NDArrayHandle, *mut sys::NDArrayHandle) -> c_int;

impl Array {
    pub(crate) fn handles(arrays: &[&Array]) -> Vec<sys::NDArrayHandle> {
        arrays.iter().map(|array| array.0).collect()
    }
    /// Owns a new handle, or says why there is none.
    pub(crate) fn take(handle: sys::NDArrayHandle) -> Result<Array> {
        check(if handle.is_null() { -1 } else { 0 }).map(|()| Array(handle))
    }
    /// The array that a function makes of this one.
    fn made(&self, function: Make) -> Result<Array> {
        let mut out = ptr::null_mut();
        check(unsafe { function(self.0, &mut out) })?;
        Array::take(out)
    }
    /// Owns the new handles in a lent list.
    pub(crate) unsafe fn take_lent(list: *mut sys::NDArrayHandle, count: usize) -> Vec<Array> {
        (0..count).map(|i| Array(*list.add(i))).collect()
    }

    /// An array of these values, in C order, in this shape.
    pub fn from_slice<T: Element>(values: &[T], shape: &[usize]) -> Result<Array> {
        let extents: Vec<i64> = shape.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        let (n, mut out) = (extents.len() as c_int, ptr::null_mut());
        check(unsafe { sys::MXNDArrayCreateEx64(extents.as_ptr(), n, 1, 0, 0, T::DTYPE as c_int, &mut out) })?;
        let array = Array::take(out)?;
        array.copy_from(values)?;
        Ok(array)
    }
    /// An array of one value, of shape (1,).
    pub fn scalar<T: Element>(value: T) -> Result<Array> {
        Array::from_slice(&[value], &[1])
    }
    /// An array of zeros.
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Array> {
        ops::_zeros(()).shape(shape).dtype(dtype).call()
    }

    /// Writes values, as many as there are elements, over the array's.
    pub fn copy_from<T: Element>(&self, values: &[T]) -> Result<()> {
        self.need::<T>("copy_from")?;
        // The library reads values.len() elements, and refuses any number but its own.
        check(unsafe { sys::MXNDArraySyncCopyFromCPU(self.0, values.as_ptr().cast(), values.len()) })
    }
    /// The values in C order; an error if they are not of this type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.need::<T>("to_vec")?;
        let mut values = vec![T::default(); self.len()?];
        let bytes: *mut u8 = values.as_mut_ptr().cast();
        // The library writes that many elements, or fails.
        check(unsafe { sys::MXNDArraySyncCopyToCPU(self.0, bytes.cast(), values.len()) })?;
        if T::DTYPE == Bool {
            // A bool of Rust's is 0 or 1, of a file's any byte: nothing reads one before this.
            (0..values.len()).for_each(|i| unsafe { *bytes.add(i) = (*bytes.add(i) != 0).into() });
        }
        Ok(values)
    }
    /// The value of an array of one element.
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec()?[..] {
            [value] => Ok(value),
            ref values => Err(Error::new(format!("item: one element was expected, {} came", values.len()))),
        }
    }
    fn need<T: Element>(&self, what: &str) -> Result<()> {
        let (wanted, found) = (T::DTYPE.name(), self.dtype()?.name());
        let text = || format!("{}: elements of {} were expected, the array's are of {}; cast it", what, wanted, found);
        if wanted == found {
            Ok(())
        } else {
            Err(Error::new(text()))
        }
    }

    /// Its extents.
    pub fn shape(&self) -> Result<Vec<usize>> {
        let (mut n, mut list) = (0, ptr::null());
        check(unsafe { sys::MXNDArrayGetShapeEx64(self.0, &mut n, &mut list) })?;
        // The list is lent until the next call; -1 axes: no shape yet.
        Ok((0..n.max(0) as usize).map(|i| unsafe { *list.add(i) } as usize).collect())
    }
    /// How many elements it has.
    pub fn len(&self) -> Result<usize> {
        Ok(self.shape()?.iter().product())
    }
    /// What its elements are.
    pub fn dtype(&self) -> Result<DType> {
        let mut flag = -1;
        check(unsafe { sys::MXNDArrayGetDType(self.0, &mut flag) })?;
        let found = DType::ALL.get(flag as usize).copied();
        found.ok_or_else(|| Error::new(format!("dtype: the array has none ({})", flag)))
    }
    /// The same values in another dtype.
    pub fn cast(&self, dtype: DType) -> Result<Array> {
        ops::Cast(self).dtype(dtype).call()
    }
    /// A view of rows `begin..end`.
    pub fn rows(&self, begin: usize, end: usize) -> Result<Array> {
        Array::take(unsafe { sys::MXLNDArraySlice(self.0, begin as i64, end as i64) })
    }
    /// A view in another shape; -1 stands for what remains.
    pub fn reshape(&self, shape: &[i64]) -> Result<Array> {
        Array::take(unsafe { sys::MXLNDArrayReshape(self.0, shape.len() as c_int, shape.as_ptr(), 0) })
    }

    /// Makes it a variable: a backward writes its gradient.
    pub fn attach_grad(&self) -> Result<()> {
        let _pause = autograd::pause();
        let gradient = ops::zeros_like(self).call()?;
        let (mut variable, mut request, mut buffer) = (self.0, 1, gradient.0);
        check(unsafe { sys::MXAutogradMarkVariables(1, &mut variable, &mut request, &mut buffer) })
    }
    /// Its gradient, if it is a variable.
    pub fn grad(&self) -> Result<Option<Array>> {
        let mut out = ptr::null_mut();
        check(unsafe { sys::MXNDArrayGetGrad(self.0, &mut out) })?;
        Ok(if out.is_null() { None } else { Some(Array(out)) })
    }
    /// The gradients of its sum, into the variables that it was computed from.
    pub fn backward(&self) -> Result<()> {
        autograd::backward(&[self], &[], autograd::Options::default())
    }
    /// The same memory, without a place in the graph.
    pub fn detach(&self) -> Result<Array> {
        self.made(sys::MXNDArrayDetach)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match (self.shape(), self.dtype()) {
            (Ok(shape), Ok(dtype)) => write!(f, "Array({}, {:?})", dtype.name(), shape),
            (Err(error), _) | (_, Err(error)) => write!(f, "Array({})", error),
        }
    }
}

fn c_path(path: impl AsRef<Path>) -> Result<CString> {
    c_text(path.as_ref().to_str().ok_or_else(|| Error::new("a path that is not UTF-8"))?)
}

/// Writes named arrays as a `.params` file.
pub fn save(path: impl AsRef<Path>, arrays: &[(&str, &Array)]) -> Result<()> {
    let path = c_path(path)?;
    let names: Vec<CString> = arrays.iter().map(|(name, _)| c_text(name)).collect::<Result<_>>()?;
    let mut keys: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let mut handles: Vec<_> = arrays.iter().map(|(_, array)| array.0).collect();
    let n = handles.len() as u32;
    check(unsafe { sys::MXNDArraySave(path.as_ptr(), n, handles.as_mut_ptr(), keys.as_mut_ptr()) })
}

/// Reads a `.params` file: names (empty where the file has none) and arrays, in order.
pub fn load(path: impl AsRef<Path>) -> Result<Vec<(String, Array)>> {
    let (path, mut n, mut list, mut named, mut names) = (c_path(path)?, 0, ptr::null_mut(), 0, ptr::null_mut());
    // Handles are new, their list and the names are lent until the next such call: both are taken at once.
    unsafe {
        check(sys::MXNDArrayLoad(path.as_ptr(), &mut n, &mut list, &mut named, &mut names))?;
        let arrays = Array::take_lent(list, n as usize).into_iter().enumerate();
        let name = |i: usize| string(if i < named as usize { *names.add(i) } else { ptr::null() });
        Ok(arrays.map(|(i, array)| (name(i), array)).collect())
    }
}

//! Finds libmxlite (MXLITE_LIBRARY: the file; else pkg-config), links with it, asks it for its operators and
//! writes a builder for each into ops.rs (the macro `operator` of src/lib.rs gives it its body).
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::{env, fmt::Write, fs, process::Command, ptr};

#[cfg_attr(target_os = "linux", link(name = "dl"))]
extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
type Names = unsafe extern "C" fn(*mut c_uint, *mut *mut *const c_char) -> c_int;
type Find = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;
#[rustfmt::skip]
type Info = unsafe extern "C" fn(
    *mut c_void, *mut *const c_char, *mut *const c_char, *mut c_uint, *mut *mut *const c_char,
    *mut *mut *const c_char, *mut *mut *const c_char, *mut *const c_char, *mut *const c_char,
) -> c_int;

/// The keywords of Rust 2024 that may be names as `r#keyword`: a parameter of any operator may be called so.
#[rustfmt::skip]
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];
/// Those that may not.
const NEVER_RAW: [&str; 4] = ["crate", "self", "Self", "super"];

/// The name of an operator or parameter as Rust writes it.
fn identifier(name: &str) -> String {
    if NEVER_RAW.contains(&name) {
        format!("{}_", name)
    } else if KEYWORDS.contains(&name) {
        format!("r#{}", name)
    } else {
        name.to_string()
    }
}

fn library() -> PathBuf {
    if let Some(file) = env::var_os("MXLITE_LIBRARY") {
        return fs::canonicalize(&file).unwrap_or_else(|e| panic!("MXLITE_LIBRARY={:?}: {}", file, e));
    }
    let asked = Command::new("pkg-config").args(["--variable=library", "mxlite"]).output();
    let file = asked.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_string()).unwrap_or_default();
    assert!(!file.is_empty(), "set MXLITE_LIBRARY to libmxlite.so, or PKG_CONFIG_PATH to where mxlite.pc is");
    PathBuf::from(file)
}

unsafe fn text(c: *const c_char) -> String {
    CStr::from_ptr(c).to_string_lossy().into_owned()
}

fn rust_type(c_type: &str) -> &'static str {
    match c_type.split(',').next().unwrap_or("") {
        "float" | "double" => "f64",
        "int" | "long" => "i64",
        "boolean" => "bool",
        _ => "impl Text",
    }
}

unsafe fn describe(find: Find, info: Info, name: &str) -> String {
    let (c_name, mut op, mut count) = (CString::new(name).unwrap(), ptr::null_mut(), 0);
    let (mut first, mut about, mut counts, mut result) = (ptr::null(), ptr::null(), ptr::null(), ptr::null());
    let (mut names, mut types, mut texts) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    assert_eq!(find(c_name.as_ptr(), &mut op), 0);
    let status =
        info(op, &mut first, &mut about, &mut count, &mut names, &mut types, &mut texts, &mut counts, &mut result);
    assert_eq!(status, 0);
    let (mut inputs, mut params) = (Vec::new(), String::new());
    for i in 0..count as usize {
        let (key, kind) = (text(*names.add(i)), text(*types.add(i)));
        if kind.starts_with("NDArray") {
            inputs.push(key);
        } else {
            let doc = format!("`{}`. {}", kind, text(*texts.add(i)));
            write!(params, " ({}, {:?}, {}, {:?}),", identifier(&key), key, rust_type(&kind), doc).unwrap();
        }
    }
    let doc = format!("```text\n{}\n```\nInputs: {}.", text(about), inputs.join(", "));
    format!("operator!({}, {:?}, {:?},{});\n", identifier(name), name, doc, params)
}

fn main() {
    let file = library();
    println!("cargo:rerun-if-env-changed=MXLITE_LIBRARY\ncargo:rerun-if-changed={}", file.display());
    println!("cargo:rustc-link-search=native={0}\ncargo:rustc-link-lib=dylib=mxlite", file.parent().unwrap().display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", file.parent().unwrap().display());
    let mut written = String::new();
    // The library outlives this program, and the three functions have the types that the header gives them.
    unsafe {
        let path = CString::new(file.to_str().unwrap()).unwrap();
        let library = dlopen(path.as_ptr(), 2);
        assert!(!library.is_null(), "{} cannot be loaded", file.display());
        let symbol = |name: &'static [u8]| dlsym(library, name.as_ptr().cast());
        let list: Names = std::mem::transmute(symbol(b"MXListAllOpNames\0"));
        let find: Find = std::mem::transmute(symbol(b"NNGetOpHandle\0"));
        let info: Info = std::mem::transmute(symbol(b"MXSymbolGetAtomicSymbolInfo\0"));
        let (mut count, mut names) = (0, ptr::null_mut());
        assert_eq!(list(&mut count, &mut names), 0);
        for i in 0..count as usize {
            written += &describe(find, info, &text(*names.add(i)));
        }
    }
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("ops.rs"), written).unwrap();
}

//! Values, errors, gradients, lifetimes and threads of the binding.
use mxlite::autograd::{self, Options};
use mxlite::{load, op, ops, save, sys, Array, DType, Error, Result};
use std::{path::Path, process::Command};

fn floats(values: &[f32]) -> Array {
    Array::from_slice(values, &[values.len()]).unwrap()
}
fn vec(array: &Array) -> Vec<f32> {
    array.to_vec().unwrap()
}
fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error was expected").to_string()
}
fn panic_of<R>(body: impl FnOnce() -> R + std::panic::UnwindSafe) -> String {
    *std::panic::catch_unwind(body).err().expect("a panic was expected").downcast::<String>().unwrap()
}
fn path(name: &str) -> String {
    format!("{}/mxlite-{}-{}", std::env::temp_dir().display(), std::process::id(), name)
}

macro_rules! round_trips {
    ($($name:ident: $values:expr, $dtype:ident;)*) => { $(
        #[test]
        fn $name() {
            let values = $values;
            let array = Array::from_slice(&values, &[values.len()]).unwrap();
            assert_eq!(array.dtype(), Ok(DType::$dtype));
            assert_eq!(array.to_vec(), Ok(values.to_vec()));
        }
    )* };
}
round_trips! {
    round_trip_f32: [0.1f32, -0.0, f32::INFINITY], Float32;
    round_trip_f64: [0.1f64, 1e300], Float64;
    round_trip_u8: [0u8, 255], UInt8;
    round_trip_i8: [-128i8, 127], Int8;
    round_trip_i32: [i32::MIN, i32::MAX], Int32;
    round_trip_i64: [i64::MIN, i64::MAX, (1 << 53) + 1], Int64;
    round_trip_bool: [true, false, true], Bool;
}

#[test]
fn bytes_of_a_bool_that_are_not_0_or_1_read_as_true() {
    let file = path("bool");
    save(&file, &[("b", &Array::from_slice(&[true, false], &[2]).unwrap())]).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let at = bytes.len() - 2 - 17; // behind the values: the number of names, the length of the name, the name
    assert_eq!(bytes[at..at + 2], [1, 0]);
    bytes[at] = 7;
    std::fs::write(&file, bytes).unwrap();
    let read = load(&file);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(read.unwrap()[0].1.to_vec(), Ok(vec![true, false]));
}
#[test]
fn shape_and_length() {
    let x = Array::zeros(&[2, 3, 4], DType::Int32).unwrap();
    assert_eq!((x.shape(), x.len()), (Ok(vec![2, 3, 4]), Ok(24)));
    assert_eq!(format!("{:?}", x), "Array(int32, [2, 3, 4])");
}
#[test]
fn empty_arrays_and_scalars_in_numpy_shape_mode() {
    let _mode = autograd::numpy_shape(true);
    assert_eq!(Array::from_slice::<f32>(&[], &[0, 3]).unwrap().to_vec::<f32>(), Ok(vec![]));
    let scalar = Array::from_slice(&[5i32], &[]).unwrap();
    assert_eq!((scalar.shape(), scalar.item()), (Ok(vec![]), Ok(5)));
}
#[test]
fn operators_of_arrays_broadcast() {
    let (a, b) = (Array::from_slice(&[1.0f32, 2.0], &[2, 1]).unwrap(), floats(&[10.0, 20.0]));
    assert_eq!(vec(&(&a + &b)), [11.0, 21.0, 12.0, 22.0]);
    assert_eq!(vec(&(&a - &b)), [-9.0, -19.0, -8.0, -18.0]);
    assert_eq!(vec(&(&a * &b)), [10.0, 20.0, 20.0, 40.0]);
    assert_eq!(vec(&(&b / &a)), [10.0, 20.0, 5.0, 10.0]);
    assert_eq!((&a + &b).shape(), Ok(vec![2, 2]));
}
#[test]
fn operators_with_numbers_on_both_sides() {
    let x = floats(&[1.0, 4.0]);
    assert_eq!(vec(&(&x + 1.0)), [2.0, 5.0]);
    assert_eq!(vec(&(1.0 - &x)), [0.0, -3.0]);
    assert_eq!(vec(&(&x - 1.0)), [0.0, 3.0]);
    assert_eq!(vec(&(8.0 / &x)), [8.0, 2.0]);
    assert_eq!(vec(&(-&(2.0 * (&x / 2.0)))), [-1.0, -4.0]);
}
#[test]
fn operators_take_values_too() {
    assert_eq!(vec(&(floats(&[1.0]) + floats(&[2.0]) * floats(&[3.0]) - &floats(&[1.0]))), [6.0]);
}
#[test]
fn a_failing_operator_panics_with_the_library_s_message() {
    let text = panic_of(|| floats(&[1.0, 2.0]) + floats(&[1.0, 2.0, 3.0]));
    assert_eq!(text, message(ops::broadcast_add([&floats(&[1.0, 2.0]), &floats(&[1.0, 2.0, 3.0])]).call()));
    assert!(text.starts_with("broadcast_add: "), "{}", text);
}
#[test]
fn operators_by_name_with_parameters() {
    let x = Array::from_slice(&[1.0f32, 1.0, 2.0, 2.0], &[2, 2]).unwrap();
    assert_eq!(vec(&op("softmax", &x).arg("axis", 1).call().unwrap()), [0.5; 4]);
    assert_eq!(vec(&op("sum", &x).arg("axis", [0i64, 1]).call().unwrap()), [6.0]);
    assert_eq!(vec(&op("sum", &x).arg("axis", 0).arg("keepdims", true).call().unwrap()), [3.0, 3.0]);
}
#[test]
fn generated_builders_take_typed_parameters() {
    let x = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    assert_eq!(vec(&ops::dot([&x, &x]).transpose_a(true).call().unwrap()), [10.0, 14.0, 14.0, 20.0]);
    assert_eq!(vec(&ops::clip(&x).a_min(2.0).a_max(3.0).call().unwrap()), [2.0, 2.0, 3.0, 3.0]);
    assert_eq!(vec(&ops::transpose(&x).axes([1, 0]).call().unwrap()), [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(vec(&ops::r#where([&x, &x, &x]).call().unwrap()), vec(&x));
    assert!(ops::_foreach(&x).r#fn("no graph").call().is_err()); // a parameter may be called as a keyword
    assert_eq!(vec(&ops::sum(&x).axis(None::<i64>).call().unwrap()), [10.0]);
}
#[test]
fn inputs_are_counted_where_an_operator_asks() {
    let (x, list) = (floats(&[1.0]), vec![floats(&[2.0]), floats(&[3.0])]);
    let refs: Vec<&Array> = list.iter().collect();
    assert_eq!(vec(&ops::concat(&refs[..]).dim(0).call().unwrap()), [2.0, 3.0]);
    assert_eq!(vec(&op("add_n", [&x, &x, &x]).call().unwrap()), [3.0]);
    assert!(op("add_n", [&x, &x, &x]).arg("num_args", 2).call().is_err());
}
#[test]
fn several_outputs_and_given_outputs() {
    let x = floats(&[1.0, 2.0, 3.0, 4.0]);
    let parts = ops::split(&x).num_outputs(2).axis(0).call_all().unwrap();
    assert_eq!((vec(&parts[0]), vec(&parts[1])), (vec![1.0, 2.0], vec![3.0, 4.0]));
    assert!(message(ops::split(&x).num_outputs(2).axis(0).call()).contains("one output was expected, 2 came"));
    ops::square(&x).call_into(&[&x]).unwrap();
    assert_eq!(vec(&x), [1.0, 4.0, 9.0, 16.0]);
    assert!(message(ops::square(&x).call_into(&[])).contains("no outputs"));
}
#[test]
fn errors_are_the_library_s() {
    let x = floats(&[1.0]);
    assert!(message(op("no_such_operator", &x).call()).contains("no_such_operator"));
    assert!(message(op("softmax", &x).arg("no_such", 1).call()).contains("no_such"));
    assert!(message(op("softmax", &x).arg("axis", "x").call()).contains("axis"));
    assert!(message(op("softmax", ()).call()).starts_with("softmax: "));
    let error: Box<dyn std::error::Error> = Box::new(op("softmax", &x).arg("axis", 9).call().unwrap_err());
    assert!(error.downcast_ref::<Error>().unwrap().to_string().starts_with("softmax: "));
}
#[test]
fn a_nul_in_a_name_is_an_error() {
    assert!(message(op("soft\0max", ()).call()).contains("NUL"));
    assert!(message(op("softmax", &floats(&[1.0])).arg("axis", "1\0").call()).contains("NUL"));
    assert!(message(load("a\0b")).contains("NUL"));
}
#[test]
fn values_of_another_type_or_number_are_an_error() {
    let x = floats(&[1.0, 2.0]);
    assert!(message(x.to_vec::<f64>()).contains("float64 were expected, the array's are of float32"));
    assert!(message(x.copy_from(&[1i32, 2])).contains("int32 were expected"));
    assert!(x.copy_from(&[1.0f32]).is_err());
    assert!(message(x.item::<f32>()).contains("one element was expected, 2 came"));
    assert!(Array::from_slice(&[1.0f32], &[2]).is_err());
    assert!(Array::from_slice(&[1.0f32], &[usize::MAX]).is_err());
}
#[test]
fn cast_reads_float16() {
    let half = floats(&[1.5, 0.1]).cast(DType::Float16).unwrap();
    assert_eq!(half.dtype(), Ok(DType::Float16));
    assert_eq!(vec(&half.cast(DType::Float32).unwrap()), [1.5, 0.099975586]);
}
#[test]
fn views_and_clones_share_memory() {
    let x = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let (row, flat, twin) = (x.rows(1, 2).unwrap(), x.reshape(&[-1]).unwrap(), x.clone());
    x.copy_from(&[5.0f32, 6.0, 7.0, 8.0]).unwrap();
    drop(x);
    assert_eq!((vec(&row), vec(&flat), vec(&twin)), (vec![7.0, 8.0], vec![5.0, 6.0, 7.0, 8.0], vec(&flat)));
    assert!(twin.rows(1, 3).is_err() && twin.reshape(&[3]).is_err());
}
#[test]
fn backward_writes_gradients() {
    let x = floats(&[1.0, 2.0, 3.0]);
    assert!(x.grad().unwrap().is_none());
    x.attach_grad().unwrap();
    let y = autograd::with_record(|| &(&x * &x) * &x);
    y.backward().unwrap();
    assert_eq!(vec(&x.grad().unwrap().unwrap()), [3.0, 12.0, 27.0]);
}
#[test]
fn head_gradients_and_retained_graphs() {
    let x = floats(&[1.0, 2.0]);
    x.attach_grad().unwrap();
    let y = autograd::with_record(|| &x * &x);
    let keep = Options { retain_graph: true, ..Default::default() };
    autograd::backward(&[&y], &[&floats(&[10.0, 100.0])], keep).unwrap();
    assert_eq!(vec(&x.grad().unwrap().unwrap()), [20.0, 400.0]);
    y.backward().unwrap();
    assert_eq!(vec(&x.grad().unwrap().unwrap()), [2.0, 4.0]);
    assert!(y.backward().is_err());
    assert!(message(autograd::backward(&[&y], &[&x, &x], keep)).contains("1 head gradients"));
}
#[test]
fn gradients_of_any_order() {
    let x = floats(&[2.0]);
    x.attach_grad().unwrap();
    let _scope = autograd::record();
    let how = Options { create_graph: true, ..Default::default() };
    let mut y = &(&(&x * &x) * &x) * &x;
    for expected in [32.0, 48.0, 48.0, 24.0] {
        y = autograd::grad(&[&y], &[], &[&x], how).unwrap().remove(0);
        assert_eq!(vec(&y), [expected]);
    }
}
#[test]
fn backward_errors() {
    let x = floats(&[1.0]);
    assert!(x.backward().is_err());
    assert!(message(autograd::grad(&[&x], &[], &[], Options::default())).contains("at least one variable"));
}
#[test]
fn detached_and_paused_values_are_constants() {
    let x = floats(&[3.0]);
    x.attach_grad().unwrap();
    let y = autograd::with_record(|| {
        let constant = autograd::with_pause(|| &x * &x);
        &(&constant * &x) + &(&x.detach().unwrap() * 5.0)
    });
    y.backward().unwrap();
    assert_eq!(vec(&x.grad().unwrap().unwrap()), [9.0]);
}
#[test]
fn scopes_nest_and_restore() {
    let flags = || (autograd::is_recording(), autograd::is_training());
    let outer = autograd::record();
    {
        let _pause = autograd::pause();
        assert_eq!(flags(), (false, false));
        let _training = autograd::training(true);
        assert_eq!(flags(), (false, true));
    }
    assert_eq!(flags(), (true, true));
    drop(outer);
    assert_eq!(flags(), (false, false));
}
#[test]
fn a_panic_ends_a_scope() {
    assert_eq!(panic_of(|| autograd::with_record(|| panic!("{}", "out"))), "out");
    assert!(!autograd::is_recording());
}
#[test]
fn modes_of_dropout() {
    let x = Array::from_slice(&[1.0f32; 100], &[100]).unwrap();
    assert_eq!(vec(&ops::Dropout(&x).call().unwrap()), [1.0; 100]);
    let _training = autograd::training(true);
    assert!(vec(&ops::Dropout(&x).call().unwrap()).contains(&0.0));
}
#[test]
fn files_keep_names_order_and_dtypes() {
    let (file, w) = (path("files"), floats(&[1.0, 2.0]));
    save(&file, &[("w", &w), ("b", &Array::scalar(7i64).unwrap())]).unwrap();
    let read = load(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!((read[0].0.as_str(), read[1].0.as_str(), read.len()), ("w", "b", 2));
    assert_eq!((vec(&read[0].1), read[1].1.item()), (vec![1.0, 2.0], Ok(7i64)));
    assert!(message(load(&file)).contains("mxlite-"));
    assert!(save("/no/such/folder/x", &[("w", &w)]).is_err());
}
#[test]
fn arrays_move_between_threads() {
    let x = floats(&[1.0, 2.0]);
    let twin = x.clone();
    let y = std::thread::spawn(move || &twin + 1.0).join().unwrap();
    assert_eq!((vec(&x), vec(&y)), (vec![1.0, 2.0], vec![2.0, 3.0]));
}
#[test]
fn recording_and_errors_belong_to_a_thread() {
    let _scope = autograd::record();
    assert!(op("no_such_operator_here", ()).call().is_err());
    std::thread::spawn(|| {
        assert!(!autograd::is_recording());
        assert!(message(op("softmax", ()).call()).starts_with("softmax"));
    })
    .join()
    .unwrap();
    assert!(autograd::is_recording());
}
#[test]
fn threads_differentiate_at_once() {
    let gradient = |k: usize| {
        let x = Array::from_slice(&vec![k as f32; 1000], &[1000]).unwrap();
        x.attach_grad().unwrap();
        for _ in 0..50 {
            autograd::with_record(|| &x * &x).backward().unwrap();
        }
        vec(&x.grad().unwrap().unwrap()) == vec![2.0 * k as f32; 1000]
    };
    let threads: Vec<_> = (0..4).map(|k| std::thread::spawn(move || gradient(k))).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
#[test]
fn declarations_are_those_of_the_header() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("make_sys.py");
    assert!(Command::new("python3").arg(script).arg("--check").status().unwrap().success());
}

#[test]
fn layout_of_values_is_that_of_the_header() {
    assert_eq!(std::mem::size_of::<sys::MXLValue>(), 16);
    assert_eq!(std::mem::size_of::<sys::MXLList>(), 16);
}

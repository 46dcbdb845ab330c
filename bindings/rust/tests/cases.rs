//! Runs every case of bindings/cases.json, whose JSON is plain: numbers, strings, lists, objects.
use mxlite::{autograd, op, ops, Array, DType};

#[derive(Default)]
struct Json {
    text: String,
    number: f64,
    items: Vec<Json>, // of an object: key, value, key, value, ...
}

/// Reads one value off the front of the text.
fn read(text: &mut &str) -> Json {
    const BETWEEN: [char; 4] = [' ', '\n', ',', ':'];
    let mut json = Json::default();
    *text = text.trim_start_matches(BETWEEN);
    let end = if text.starts_with(['[', '{']) {
        *text = text[1..].trim_start_matches(BETWEEN);
        while !text.starts_with([']', '}']) {
            json.items.push(read(text));
            *text = text.trim_start_matches(BETWEEN);
        }
        1
    } else if text.starts_with('"') {
        let quotes = text.match_indices('"').map(|(i, _)| i).skip(1);
        let end = { quotes }.find(|&i| !text[..i].ends_with('\\')).expect("a string without end");
        json.text = text[1..end].replace("\\\"", "\"");
        json.number = json.text.parse().unwrap_or(0.0); // "nan", "inf", "-inf"
        end + 1
    } else {
        let end = text.find(|c| !"+-.eE0123456789".contains(c)).expect("JSON ends early");
        json.number = text[..end].parse().expect("a number");
        end
    };
    *text = &text[end..];
    json
}

impl Json {
    fn find(&self, key: &str) -> Option<&Json> {
        self.items.chunks(2).find(|pair| pair[0].text == key).map(|pair| &pair[1])
    }
    fn get(&self, key: &str) -> &Json {
        self.find(key).unwrap_or_else(|| panic!("no key {}", key))
    }
    fn list<T>(&self, key: &str, item: impl Fn(&Json) -> T) -> Vec<T> {
        self.find(key).map_or(Vec::new(), |list| list.items.iter().map(item).collect())
    }
    fn numbers(&self, key: &str) -> Vec<f64> {
        self.list(key, |item| item.number)
    }
    fn shape(&self) -> Vec<usize> {
        self.list("shape", |item| item.number as usize)
    }
    fn array(&self) -> Array {
        let wide = Array::from_slice(&self.numbers("values"), &self.shape()).unwrap();
        ops::Cast(&wide).dtype(self.get("dtype").text.as_str()).call().unwrap()
    }
}

fn refs(arrays: &[Array]) -> Vec<&Array> {
    arrays.iter().collect()
}

/// Panics with the difference between an array and what was expected.
fn compare(what: &str, array: &Array, expected: &Json) {
    assert_eq!(array.dtype().unwrap().name(), expected.get("dtype").text, "{}: dtype", what);
    assert_eq!(array.shape().unwrap(), expected.shape(), "{}: shape", what);
    let (rtol, atol) = (expected.get("rtol").number, expected.get("atol").number);
    let found: Vec<f64> = array.cast(DType::Float64).unwrap().to_vec().unwrap();
    for (i, (&a, &b)) in found.iter().zip(&expected.numbers("values")).enumerate() {
        let same = a == b || (a.is_nan() && b.is_nan()) || (b.is_finite() && (a - b).abs() <= atol + rtol * b.abs());
        assert!(same, "{}: element {}: {} was expected, {} came", what, i, b, a);
    }
}

fn run(case: &Json) {
    let train = case.get("train").number == 1.0;
    let inputs = case.list("inputs", Json::array);
    let mut call = op(&case.get("op").text, &refs(&inputs)[..]);
    for pair in case.get("params").items.chunks(2) {
        call = call.arg(&pair[0].text, pair[1].text.as_str());
    }
    let variables = case.list("gradients", |gradient| &inputs[gradient.get("input").number as usize]);
    variables.iter().for_each(|variable| variable.attach_grad().unwrap());
    let outputs = {
        let _scope = if variables.is_empty() { autograd::pause() } else { autograd::record() };
        let _mode = autograd::training(train);
        call.call_all()
    };
    if let Some(expected) = case.find("error") {
        assert_eq!(outputs.expect_err("an error was expected").to_string(), expected.text);
        return;
    }
    let (outputs, expected) = (outputs.unwrap(), &case.get("outputs").items);
    assert_eq!(outputs.len(), expected.len(), "number of outputs");
    outputs.iter().zip(expected).for_each(|(output, expected)| compare("output", output, expected));
    if !variables.is_empty() {
        let (heads, how) = (case.list("heads", Json::array), autograd::Options { train, ..Default::default() });
        autograd::backward(&refs(&outputs), &refs(&heads), how).unwrap();
        for (variable, expected) in variables.iter().zip(&case.get("gradients").items) {
            compare("gradient", &variable.grad().unwrap().unwrap(), expected);
        }
    }
}

#[test]
fn every_case_of_the_shared_table() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases.json").to_string();
    let text = std::fs::read_to_string(std::env::var("MXLITE_CASES").unwrap_or(default)).unwrap();
    let cases = &read(&mut text.as_str()).items[1].items;
    assert!(!cases.is_empty(), "the file holds no case");
    let tell = |case: &Json| println!("{}: the difference stands above", case.get("id").text);
    let failed = |case: &&Json| std::panic::catch_unwind(|| run(case)).map_err(|_| tell(case)).is_err();
    assert_eq!(cases.iter().filter(failed).count(), 0, "of {} cases", cases.len());
}

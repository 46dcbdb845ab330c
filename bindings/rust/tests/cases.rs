//! Runs every case of bindings/cases.json, whose JSON is plain: numbers, strings, lists, objects.
use mxlite::{autograd, op, Array, DType, Result};

#[derive(PartialEq)]
enum Json {
    Number(f64),
    Text(String),
    List(Vec<Json>), // of an object: key, value, key, value, ...
}
use Json::*;

/// Reads one value off the front of the text.
fn read(text: &mut &str) -> Json {
    let first = text.chars().next().expect("JSON ends early");
    if first == '"' {
        let (mut string, mut rest) = (String::new(), text[1..].chars());
        loop {
            match rest.next().expect("JSON ends early") {
                '"' => break,
                '\\' => string.extend(rest.next()),
                c => string.push(c),
            }
        }
        *text = rest.as_str();
        return Text(string);
    }
    if first == '[' || first == '{' {
        let mut items = Vec::new();
        loop {
            *text = text[1..].trim_start_matches([' ', '\n']); // behind a bracket, comma or colon
            if text.starts_with([']', '}']) && items.is_empty() {
                break;
            }
            items.push(read(text));
            *text = text.trim_start();
            if text.starts_with([']', '}']) {
                break;
            }
        }
        *text = &text[1..];
        return List(items);
    }
    let (number, rest) = text.split_at(text.find(|c| !"+-.eE0123456789".contains(c)).expect("JSON ends early"));
    *text = rest;
    Number(number.parse().unwrap_or_else(|_| panic!("{:?} is no number", number)))
}

impl Json {
    fn items(&self) -> &[Json] {
        match self {
            List(items) => items,
            _ => panic!("a list was expected"),
        }
    }
    fn find(&self, key: &str) -> Option<&Json> {
        self.items().chunks(2).find(|pair| matches!(&pair[0], Text(k) if k == key)).map(|pair| &pair[1])
    }
    fn get(&self, key: &str) -> &Json {
        self.find(key).unwrap_or_else(|| panic!("no key {}", key))
    }
    fn text(&self) -> &str {
        match self {
            Text(text) => text,
            _ => panic!("a string was expected"),
        }
    }
    fn number(&self) -> f64 {
        match self {
            Number(number) => *number,
            other => other.text().parse().expect("nan or inf"),
        }
    }
    fn numbers(&self, key: &str) -> Vec<f64> {
        self.get(key).items().iter().map(Json::number).collect()
    }
    fn shape(&self) -> Vec<usize> {
        self.numbers("shape").iter().map(|&n| n as usize).collect()
    }
    fn arrays(&self) -> Result<Vec<Array>> {
        let array = |item: &Json| {
            let (values, shape) = (item.numbers("values"), item.shape());
            match item.get("dtype").text() {
                "float32" => Array::from_slice(&values.iter().map(|&v| v as f32).collect::<Vec<_>>(), &shape),
                "int32" => Array::from_slice(&values.iter().map(|&v| v as i32).collect::<Vec<_>>(), &shape),
                "float64" => Array::from_slice(&values, &shape),
                other => panic!("dtype {}", other),
            }
        };
        self.items().iter().map(array).collect()
    }
}

fn refs(arrays: &[Array]) -> Vec<&Array> {
    arrays.iter().collect()
}

/// Panics with the difference between an array and what was expected.
fn compare(what: &str, array: &Array, expected: &Json) -> Result<()> {
    assert_eq!(array.dtype()?.name(), expected.get("dtype").text(), "{}: dtype", what);
    assert_eq!(array.shape()?, expected.shape(), "{}: shape", what);
    let (rtol, atol) = (expected.get("rtol").number(), expected.get("atol").number());
    let found: Vec<f64> = array.cast(DType::Float64)?.to_vec()?;
    for (i, (&a, &b)) in found.iter().zip(&expected.numbers("values")).enumerate() {
        let same = a == b || (a.is_nan() && b.is_nan()) || (b.is_finite() && (a - b).abs() <= atol + rtol * b.abs());
        assert!(same, "{}: element {}: {} was expected, {} came", what, i, b, a);
    }
    Ok(())
}

fn run(case: &Json) -> Result<()> {
    let train = case.get("train").number() == 1.0;
    let inputs = case.get("inputs").arrays()?;
    let mut call = op(case.get("op").text());
    for pair in case.get("params").items().chunks(2) {
        call = call.arg(pair[0].text(), pair[1].text());
    }
    let gradients = case.find("gradients").map_or(&[][..], Json::items);
    let variables: Vec<&Array> = gradients.iter().map(|g| &inputs[g.get("input").number() as usize]).collect();
    variables.iter().try_for_each(|variable| variable.attach_grad())?;
    let outputs = {
        let _scope = if variables.is_empty() { autograd::pause() } else { autograd::record() };
        let _mode = autograd::training(train);
        call.call_all(&refs(&inputs))
    };
    if let Some(expected) = case.find("error") {
        assert_eq!(outputs.expect_err("an error was expected").to_string(), expected.text());
        return Ok(());
    }
    let outputs = outputs?;
    assert_eq!(outputs.len(), case.get("outputs").items().len(), "number of outputs");
    for (output, expected) in outputs.iter().zip(case.get("outputs").items()) {
        compare("output", output, expected)?;
    }
    if !variables.is_empty() {
        let how = autograd::Options { train, ..Default::default() };
        autograd::backward(&refs(&outputs), &refs(&case.get("heads").arrays()?), how)?;
        for (variable, expected) in variables.iter().zip(gradients) {
            compare("gradient", &variable.grad()?.unwrap(), expected)?;
        }
    }
    Ok(())
}

#[test]
fn every_case_of_the_shared_table() {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../cases.json").to_string();
    let text = std::fs::read_to_string(std::env::var("MXLITE_CASES").unwrap_or(default)).unwrap();
    let file = read(&mut text.trim());
    let cases = file.get("cases").items();
    assert!(!cases.is_empty(), "the file holds no case");
    let failed = |case: &&Json| match std::panic::catch_unwind(|| run(case)) {
        Ok(Ok(())) => false,
        Ok(Err(error)) => (println!("{}: {}", case.get("id").text(), error), true).1,
        Err(_) => (println!("{}: the difference stands above", case.get("id").text()), true).1,
    };
    let failures = cases.iter().filter(failed).count();
    assert_eq!(failures, 0, "of {} cases", cases.len());
}

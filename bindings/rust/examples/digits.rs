//! Trains a two-layer network on handwritten digits, as examples/digits.c does, and prints the same table.
//!
//!     cargo run --release --example digits [../../examples/data/digits.u8]
use mxlite::{autograd, ops, seed, Array, Result};
use std::time::Instant;

const PIXELS: usize = 64;
const TRAIN: usize = 1437;
const HELD_OUT: usize = 360;
const HIDDEN: usize = 128;
const BATCH: usize = 32;
const EPOCHS: usize = 20;

/// A weight or bias, and what its updates remember.
struct Parameter(Array, Array);

/// He's initial weights (He et al. 2015): normal with variance 2 / inputs; biases zero.
fn parameter(shape: &[usize], inputs: Option<usize>) -> Result<Parameter> {
    let zeros = Array::zeros(shape, mxlite::DType::Float32)?;
    let value = match inputs {
        Some(n) => ops::_random_normal(()).shape(shape).scale((2.0 / n as f64).sqrt()).call()?,
        None => zeros.detach()?,
    };
    value.attach_grad()?;
    Ok(Parameter(value, ops::zeros_like(&zeros).call()?))
}

struct Network([Parameter; 4]);

impl Network {
    fn new() -> Result<Network> {
        Ok(Network([
            parameter(&[HIDDEN, PIXELS], Some(PIXELS))?,
            parameter(&[HIDDEN], None)?,
            parameter(&[10, HIDDEN], Some(HIDDEN))?,
            parameter(&[10], None)?,
        ]))
    }

    /// Scores of each digit for a batch of images: relu(x W1 + b1) W2 + b2.
    fn scores(&self, x: &Array) -> Result<Array> {
        let [w1, b1, w2, b2] = &self.0;
        let before = ops::FullyConnected([x, &w1.0, &b1.0]).num_hidden(HIDDEN as i64).call()?;
        let hidden = ops::relu(&before).call()?;
        ops::FullyConnected([&hidden, &w2.0, &b2.0]).num_hidden(10).call()
    }

    fn step(&self, rate: f64) -> Result<()> {
        for Parameter(weight, momentum) in &self.0 {
            let gradient = weight.grad()?.expect("a variable has a gradient");
            let update = ops::sgd_mom_update([weight, &gradient, momentum]);
            update.lr(rate).momentum(0.9).wd(0.0001).call_into(&[weight])?;
        }
        Ok(())
    }

    /// One batch: records the loss, runs backward, updates the weights. Returns the loss.
    fn train(&self, x: &Array, y: &Array, rate: f64) -> Result<f32> {
        let loss = autograd::with_record(|| cross_entropy(&self.scores(x)?, y))?;
        loss.backward()?;
        self.step(rate)?;
        loss.item()
    }

    /// Loss and accuracy.
    fn evaluate(&self, images: &Array, digits: &Array) -> Result<(f32, f64)> {
        let score = self.scores(images)?;
        let read: Vec<f32> = ops::argmax(&score).axis(1).call()?.to_vec()?;
        let right = read.iter().zip(digits.to_vec::<f32>()?).filter(|(a, b)| *a == b).count();
        Ok((cross_entropy(&score, digits)?.item()?, right as f64 / read.len() as f64))
    }
}

/// Mean of -log(probability of the right digit).
fn cross_entropy(scores: &Array, digits: &Array) -> Result<Array> {
    let right = ops::pick([&ops::log_softmax(scores).call()?, digits]).call()?;
    Ok(-&ops::mean(&right).call()?)
}

/// An order of 0 .. TRAIN-1 drawn from the library's random numbers (Fisher and Yates).
fn draw_order() -> Result<Vec<f32>> {
    let numbers: Vec<f32> = ops::_random_uniform(()).shape([TRAIN as i64]).call()?.to_vec()?;
    let mut order: Vec<f32> = (0..TRAIN).map(|i| i as f32).collect();
    for i in (1..TRAIN).rev() {
        order.swap(i, i.min((numbers[i] * (i + 1) as f32) as usize));
    }
    Ok(order)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/digits.u8").to_string();
    let bytes = std::fs::read(std::env::args().nth(1).unwrap_or(default))?;
    let records = || bytes.chunks_exact(PIXELS + 1);
    let pixels: Vec<f32> = records().flat_map(|r| &r[..PIXELS]).map(|&p| p as f32 / 16.0).collect();
    let labels: Vec<f32> = records().map(|r| r[PIXELS] as f32).collect();
    let images = Array::from_slice(&pixels[..TRAIN * PIXELS], &[TRAIN, PIXELS])?;
    let digits = Array::from_slice(&labels[..TRAIN], &[TRAIN])?;
    let held_images = Array::from_slice(&pixels[TRAIN * PIXELS..], &[HELD_OUT, PIXELS])?;
    let held_digits = Array::from_slice(&labels[TRAIN..], &[HELD_OUT])?;
    seed(1)?;
    let (network, mut accuracy) = (Network::new()?, 0.0);
    println!("epoch   training loss   held-out loss   held-out accuracy   seconds");
    for epoch in 1..=EPOCHS {
        let (begin, mut total) = (Instant::now(), 0.0);
        let rate = if epoch <= EPOCHS / 2 { 0.2 } else { 0.02 };
        for chosen in draw_order()?.chunks(BATCH) {
            let rows = Array::from_slice(chosen, &[chosen.len()])?;
            let (x, y) = (ops::take([&images, &rows]).call()?, ops::take([&digits, &rows]).call()?);
            total += network.train(&x, &y, rate)? * chosen.len() as f32;
        }
        let (loss, found) = network.evaluate(&held_images, &held_digits)?;
        accuracy = found;
        let seconds = begin.elapsed().as_secs_f64();
        println!("{:5} {:15.4} {:15.4} {:19.3} {:9.3}", epoch, total / TRAIN as f32, loss, accuracy, seconds);
    }
    println!("held-out accuracy {:.3}", accuracy);
    Ok(())
}

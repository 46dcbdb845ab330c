//! What `&x + &y` of two 4 x 4 arrays costs. Answers each line, a number of calls, with the nanoseconds of one: how
//! benchmarks/bindings.py asks.
use mxlite::Array;
use std::{io, time::Instant};

fn main() -> mxlite::Result<()> {
    let (x, y) = (Array::from_slice(&[1f32; 16], &[4, 4])?, Array::from_slice(&[2f32; 16], &[4, 4])?);
    println!("Rust");
    for line in io::stdin().lines() {
        let count: u32 = line.unwrap().parse().unwrap();
        let begin = Instant::now();
        for _ in 0..count {
            let _sum = &x + &y;
        }
        println!("{}", begin.elapsed().as_secs_f64() * 1e9 / f64::from(count));
    }
    Ok(())
}

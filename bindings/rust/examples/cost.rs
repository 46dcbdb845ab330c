//! What `x + y` of two 4 x 4 arrays costs: the best of five rounds.
use std::time::Instant;

fn main() -> mxlite::Result<()> {
    let (x, y) = (mxlite::Array::from_slice(&[1f32; 16], &[4, 4])?, mxlite::Array::from_slice(&[2f32; 16], &[4, 4])?);
    let round = || {
        let begin = Instant::now();
        for _ in 0..100_000 {
            let _sum = &x + &y;
        }
        begin.elapsed().as_nanos() / 100_000
    };
    println!("x + y, 4 x 4: {} ns", (0..5).map(|_| round()).min().unwrap_or(0));
    Ok(())
}

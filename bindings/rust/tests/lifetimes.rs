//! What is made is freed: a program of its own, since it counts the handles of the whole process.
use mxlite::{autograd, live_handles, load, op, ops, save, Array};

fn work() -> mxlite::Result<()> {
    let x = Array::from_slice(&[1.0f32; 64], &[8, 8])?;
    x.attach_grad()?;
    let parts = autograd::with_record(|| ops::split(&(&x * &x)).num_outputs(4).call_all())?;
    autograd::backward(&parts.iter().collect::<Vec<_>>(), &[], Default::default())?;
    let _clone = (x.clone(), x.grad()?, x.rows(0, 3)?, x.detach()?);
    let file = format!("{}/mxlite-live-{}", std::env::temp_dir().display(), std::process::id());
    save(&file, &[("x", &x)])?;
    load(&file)?;
    std::fs::remove_file(file).unwrap();
    assert!(op("softmax", &x).arg("axis", 7).call().is_err());
    assert!(Array::from_slice(&[1.0f32], &[3]).is_err());
    assert!(std::panic::catch_unwind(|| x.clone() + Array::scalar(1i32).unwrap()).is_err());
    Ok(())
}

#[test]
fn nothing_stays_alive() {
    for _ in 0..100 {
        work().unwrap();
    }
    assert_eq!(live_handles(), Ok(0));
    let forgotten = Array::scalar(1.0f32).unwrap();
    assert_eq!(live_handles(), Ok(1));
    std::mem::forget(forgotten);
    assert_eq!(live_handles(), Ok(1));
}

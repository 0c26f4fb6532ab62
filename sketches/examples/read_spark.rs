//! `read_spark FILE [FLOW_HASH…]`: reads a Count-Min sketch that Spark or rocescope wrote, and prints its shape and the
//! estimate of each key.
//!
//! Prints one line of `depth width total update`, where the update is `plain` or `conservative`, then one estimate per
//! line. Fails if the bytes are not such a sketch, or if writing them would give other bytes.

use rocescope_sketches::count_min::Update;
use rocescope_sketches::{CountMin, FlowHash};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: read_spark FILE [FLOW_HASH…]")?;
    let bytes = std::fs::read(&path)?;
    let sketch = CountMin::from_spark(&bytes)?;
    if sketch.to_spark() != bytes {
        return Err("what is read is written differently".into());
    }
    let update = match sketch.update() {
        Update::Plain => "plain",
        Update::Conservative => "conservative",
    };
    let (depth, width, total) = (sketch.depth(), sketch.width(), sketch.total());
    println!("{depth} {width} {total} {update}");
    for key in arguments {
        let key: i64 = key.parse()?;
        println!("{}", sketch.estimate(FlowHash(key.cast_unsigned())));
    }
    Ok(())
}

//! Lines of both logs: any bytes are read or refused, and what was read is written and read again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memctx_core::store::{Fact, Segment};

fuzz_target!(|line: &[u8]| {
    if let Ok(segment) = Segment::from_line(line) {
        assert_eq!(Segment::from_line(&segment.to_line()), Ok(segment));
    }
    if let Ok(fact) = Fact::from_line(line) {
        assert_eq!(Fact::from_line(&fact.to_line()), Ok(fact));
    }
});

//! Any bytes as a VMEM file: no panic, no memory beyond the file's size, and both readers tell the same story.
#![no_main]

use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use memctx_core::vmem::{Checksum, read, verify};

fuzz_target!(|bytes: &[u8]| {
    let path = env::temp_dir().join(format!("memctx-fuzz-{}.bin", process::id()));
    fs::write(&path, bytes).expect("the temporary folder takes a file");
    let (vectors, report) = (read(&path), verify(&path));
    fs::remove_file(&path).expect("the file was just written");

    match (vectors, report) {
        (Ok(vectors), Ok(report)) => {
            assert_eq!(vectors.report, report);
            assert_eq!(vectors.ids.len(), report.complete - report.unreadable);
            assert_eq!(vectors.values.len(), vectors.ids.len() * report.dim);
            assert!(vectors.values.iter().all(|value| value.is_finite()));
            assert!(vectors.values.capacity() * size_of::<f32>() <= bytes.len());
        }
        (Err(_), Ok(report)) => assert_eq!(report.checksum, Checksum::Wrong),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("read but not verified: {error}"),
    }
});

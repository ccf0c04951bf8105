//! VMEM files: bytes against the golden file, round trips, and every way to be damaged.

mod golden;

use std::fs;
use std::path::PathBuf;

use memctx_core::Error;
use memctx_core::vmem::{Checksum, Vectors, append, read, verify, write};
use proptest::prelude::*;
use tempfile::TempDir;

/// Return a path for a file in a folder that goes away with the first value.
fn temp_file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("vectors.bin");
    (folder, path)
}

fn golden_entries() -> (Vec<String>, Vec<f32>) {
    let golden = golden::load("vmem_v1.json");
    let ids = golden["ids"].as_array().expect("ids").iter().map(|id| id.as_str().expect("id").to_owned()).collect();
    let rows = golden["matrix"].as_array().expect("rows").iter().flat_map(|row| row.as_array().expect("row"));
    (ids, rows.map(|value| value.as_f64().expect("value") as f32).collect())
}

fn names(vectors: &Vectors) -> Vec<&str> {
    vectors.ids.iter().collect()
}

fn refs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

#[test]
fn golden_file_is_read_and_written_to_the_byte() {
    let (ids, values) = golden_entries();
    let golden = golden::folder().join("vmem_v1.bin");
    let vectors = read(&golden).expect("a valid file");
    assert_eq!((names(&vectors), &vectors.values), (refs(&ids), &values));
    assert!(vectors.report.is_ok());
    let (_folder, path) = temp_file();
    write(&path, &refs(&ids), &values, 4, false).expect("written");
    assert_eq!(fs::read(&path).expect("readable"), fs::read(&golden).expect("readable"));
}

#[test]
fn a_checksum_stands_behind_what_other_readers_see() {
    let (ids, values) = golden_entries();
    let (_folder, path) = temp_file();
    write(&path, &refs(&ids), &values, 4, true).expect("written");
    let golden = fs::read(golden::folder().join("vmem_v1.bin")).expect("readable");
    let bytes = fs::read(&path).expect("readable");
    assert_eq!(bytes[..golden.len()], golden);
    assert_eq!(verify(&path).expect("a valid file").checksum, Checksum::Valid);
}

fn entries(dim: usize) -> impl Strategy<Value = Vec<(String, Vec<f32>)>> {
    prop::collection::vec((".{0,12}", prop::collection::vec(-1e9..1e9_f32, dim)), 0..12)
}

fn split(entries: &[(String, Vec<f32>)]) -> (Vec<&str>, Vec<f32>) {
    (entries.iter().map(|entry| entry.0.as_str()).collect(), entries.iter().flat_map(|entry| entry.1.clone()).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Appending gives the very bytes that writing everything at once gives.
    #[test]
    fn appending_equals_writing(first in entries(3), second in entries(3), checksum in any::<bool>()) {
        let (_folder, path) = temp_file();
        let (ids, values) = split(&first);
        write(&path, &ids, &values, 3, checksum).expect("written");
        let (ids, values) = split(&second);
        append(&path, &ids, &values, 3).expect("appended");
        let appended = fs::read(&path).expect("readable");
        let all = [first, second].concat();
        let (ids, values) = split(&all);
        write(&path, &ids, &values, 3, checksum).expect("written");
        prop_assert_eq!(appended, fs::read(&path).expect("readable"));
        let vectors = read(&path).expect("a valid file");
        prop_assert_eq!(names(&vectors), ids);
        prop_assert_eq!(vectors.values, values);
    }

    /// A file cut anywhere behind its header gives its complete entries and takes further ones.
    #[test]
    fn a_cut_file_keeps_its_complete_entries(entries in entries(3), cut in 0..400_usize, checksum in any::<bool>()) {
        let (_folder, path) = temp_file();
        let (ids, values) = split(&entries);
        write(&path, &ids, &values, 3, checksum).expect("written");
        let bytes = fs::read(&path).expect("readable");
        let cut = 16 + cut % (bytes.len() - 15);
        fs::write(&path, &bytes[..cut]).expect("written");
        let vectors = read(&path).expect("a readable file");
        let complete = vectors.report.complete;
        prop_assert_eq!(&names(&vectors), &ids[..complete]);
        prop_assert_eq!(&vectors.values, &values[..3 * complete]);
        prop_assert!(vectors.report.is_ok() == (complete == ids.len()));
        append(&path, &["new"], &[1.0, 2.0, 3.0], 3).expect("appended");
        let extended = read(&path).expect("a readable file");
        prop_assert!(extended.report.is_ok());
        prop_assert_eq!(extended.ids.len(), complete + 1);
        prop_assert_eq!(&extended.values[3 * complete..], [1.0, 2.0, 3.0]);
    }

    /// With a checksum no flipped bit goes unnoticed, but in the header's count, which the checksum overrules, and
    /// in the trailer itself, without which the entries are still whole.
    #[test]
    fn a_flipped_bit_never_changes_what_is_read(entries in entries(2), at in any::<prop::sample::Index>(), bit in 0..8) {
        let (_folder, path) = temp_file();
        let (ids, values) = split(&entries);
        write(&path, &ids, &values, 2, true).expect("written");
        let mut bytes = fs::read(&path).expect("readable");
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        fs::write(&path, &bytes).expect("written");
        match read(&path) {
            Ok(vectors) => prop_assert_eq!((names(&vectors), &vectors.values), (ids, &values)),
            Err(Error::Corrupt { .. } | Error::Version { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), is_vmem in any::<bool>()) {
        let (_folder, path) = temp_file();
        let mut bytes = bytes;
        if is_vmem && bytes.len() >= 12 {
            bytes[..12].copy_from_slice(b"VMEM\x01\0\0\0\x02\0\0\0");
        }
        fs::write(&path, &bytes).expect("written");
        match (read(&path), verify(&path)) {
            (Ok(vectors), Ok(report)) => {
                prop_assert_eq!(vectors.report, report);
                prop_assert_eq!(vectors.ids.len(), report.complete - report.unreadable);
                prop_assert_eq!(vectors.values.len(), vectors.ids.len() * report.dim);
            }
            (Err(_), _) => {}
            (Ok(_), Err(error)) => prop_assert!(false, "{error}"),
        }
    }
}

#[test]
fn an_append_that_never_counted_is_no_part_of_the_file() {
    let (ids, values) = golden_entries();
    let (_folder, path) = temp_file();
    write(&path, &refs(&ids), &values, 4, false).expect("written");
    let mut bytes = fs::read(&path).expect("readable");
    bytes.extend_from_slice(b"\x03\0half");
    fs::write(&path, &bytes).expect("written");
    let vectors = read(&path).expect("a readable file");
    assert_eq!(names(&vectors), refs(&ids));
    assert_eq!((vectors.report.is_ok(), vectors.report.trailing_bytes), (true, 6));
}

#[test]
fn entries_that_cannot_be_read_are_skipped_and_counted() {
    let (_folder, path) = temp_file();
    write(&path, &["a", "b", "c"], &[1.0, 2.0, 3.0], 1, false).expect("written");
    let mut bytes = fs::read(&path).expect("readable");
    bytes[16 + 2] = 0xFF;
    bytes[16 + 7 + 3..16 + 7 + 7].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, &bytes).expect("written");
    let vectors = read(&path).expect("a readable file");
    assert_eq!((names(&vectors), &vectors.values), (vec!["c"], &vec![3.0]));
    assert_eq!((vectors.report.complete, vectors.report.unreadable), (3, 2));
    assert_eq!(verify(&path).expect("a readable file"), vectors.report);
}

#[test]
fn a_huge_count_reserves_no_memory() {
    let (_folder, path) = temp_file();
    fs::write(&path, b"VMEM\x01\0\0\0\0\0\x01\0\xFF\xFF\xFF\xFF").expect("written");
    let report = read(&path).expect("a readable file").report;
    assert_eq!((report.dim, report.declared, report.complete), (65_536, 4_294_967_295, 0));
}

#[test]
fn faults_name_the_file_and_the_place() {
    let (_folder, path) = temp_file();
    let message = |error: Error| error.to_string();
    assert!(matches!(read(&path), Err(Error::Io { .. })), "a missing file is the system's error");
    fs::write(&path, b"VMEM\x02\0\0\0\x02\0\0\0\0\0\0\0").expect("written");
    assert!(
        message(read(&path).expect_err("a version")).ends_with("version 2 of the format; this memctx reads version 1")
    );
    fs::write(&path, b"vmem\x01\0\0\0\x02\0\0\0\0\0\0\0").expect("written");
    assert!(message(read(&path).expect_err("magic")).contains("at byte 0"));
    fs::write(&path, b"VMEM").expect("written");
    assert!(message(read(&path).expect_err("too short")).contains("4 bytes are no header"));
    let long = "x".repeat(70_000);
    assert!(
        message(write(&path, &[&long], &[1.0], 1, false).expect_err("too long")).contains("70000 bytes long (id 0)")
    );
    assert!(write(&path, &["a"], &[f32::NAN], 1, false).is_err());
    assert_eq!(fs::read(&path).expect("readable"), b"VMEM", "a refused write leaves the file alone");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_folder, path) = temp_file();
    write(&path, &["a"], &[1.0], 1, false).expect("written");
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}

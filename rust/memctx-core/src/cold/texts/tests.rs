//! The index as a whole.

use super::TextIndex;
use crate::cold::filter::Filter;
use crate::cold::passage::Passage;
use bytemuck::Zeroable as _;

#[test]
fn finds_what_was_committed_with_its_payload() {
    let scratch = tempfile::tempdir().expect("a folder");
    let index = TextIndex::create(&scratch.path().join("texts")).expect("created");
    let mut writer = index.writer().expect("a writer");
    writer.add(7, &Passage::zeroed(), "the port of postgres").expect("added");
    writer.commit("first").expect("committed");
    let view = index.view().expect("a view");
    assert_eq!(view.payload(), "first");
    let best = view.best(&[("port".to_owned(), 1.0)], 3, &Filter::default()).expect("found");
    assert_eq!(best.len(), 1);
    assert_eq!(best[0].number, 7);
}

//! Word tables that the build script generates from the files in `data`.

use super::lexicon::flag;

include!(concat!(env!("OUT_DIR"), "/english.rs"));
include!(concat!(env!("OUT_DIR"), "/cjk.rs"));
include!(concat!(env!("OUT_DIR"), "/german.rs"));

//! Schema of the text index.

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

use super::analyzer;

/// The columns that a search reads by name.
pub(super) const ROW: &str = "row";
pub(super) const LENGTH: &str = "length";
pub(super) const SESSION: &str = "session";
pub(super) const ROLE: &str = "role";
pub(super) const TOPICS: &str = "topics";
pub(super) const TIME: &str = "time";

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) row: Field,
    /// In tokens. What tantivy knows of it is rounded.
    pub(super) length: Field,
    pub(super) key: Field,
    pub(super) session: Field,
    pub(super) role: Field,
    pub(super) topics: Field,
    pub(super) time: Field,
}

/// Return the schema; nothing is stored, as the log has it all.
pub(super) fn schema() -> (Schema, Fields) {
    let words = TextFieldIndexing::default()
        .set_tokenizer(analyzer::NAME)
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    // Not the flags of tantivy, which would keep a length for each number.
    let column = NumericOptions::default().set_fast();
    let indexed = NumericOptions::default().set_indexed();
    let mut schema = Schema::builder();
    let fields = Fields {
        text: schema.add_text_field("text", TextOptions::default().set_indexing_options(words)),
        row: schema.add_u64_field(ROW, column.clone()),
        length: schema.add_u64_field(LENGTH, column.clone()),
        key: schema.add_u64_field("key", indexed.clone()),
        session: schema.add_u64_field(SESSION, column.clone() | indexed),
        role: schema.add_u64_field(ROLE, column.clone()),
        topics: schema.add_u64_field(TOPICS, column.clone()),
        time: schema.add_f64_field(TIME, column),
    };
    (schema.build(), fields)
}

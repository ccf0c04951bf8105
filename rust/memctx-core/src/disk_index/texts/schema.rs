//! Schema of the text index.

use tantivy::schema::{Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};

use super::analyzer;

/// The columns that a search reads by name.
pub(super) const ROW: &str = "row";
pub(super) const LENGTH: &str = "length";

#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) text: Field,
    pub(super) row: Field,
    /// In tokens. What tantivy knows of it is rounded.
    pub(super) length: Field,
    pub(super) session: Field,
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
        length: schema.add_u64_field(LENGTH, column),
        session: schema.add_u64_field("session", indexed),
    };
    (schema.build(), fields)
}

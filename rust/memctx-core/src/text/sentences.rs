//! Sentences of prose.

/// Return the sentences of a text, without code, quotations, headings and tables.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_fenced = false;
    let prose = text.lines().filter(move |line| {
        let start = line.trim_start();
        let is_fence = start.starts_with("```") || start.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_code = line.starts_with("    ") || line.starts_with('\t');
        !is_fenced && !is_fence && !is_code && !start.starts_with(['>', '|', '#', '<'])
    });
    prose.flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (sentence, behind) = rest.split_at(sentence_end(rest));
            rest = behind;
            Some(sentence.trim())
        })
    })
}

/// Return the length of the first sentence: a full stop ends it where a space follows.
fn sentence_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => chars.peek().is_some_and(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end {
            return at + c.len_utf8();
        }
    }
    text.len()
}

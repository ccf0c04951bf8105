//! Our own blocks among the host's messages.

const OPENING: &str = "<recalled-context source=\"memory-context\">";
const CLOSING: &str = "</recalled-context>";

/// Whether all of a text is one block that we put there, rather than a text that mentions the tag.
pub(super) fn is_block(text: &str) -> bool {
    let text = text.trim();
    text.strip_prefix(OPENING)
        .and_then(|rest| rest.strip_suffix(CLOSING))
        .is_some_and(|inside| !inside.contains("<recalled-context") && !inside.contains(CLOSING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_block_is_one() {
        let block = format!("{OPENING}\n\n<detail>\nx\n</detail>\n\n{CLOSING}");
        assert!(is_block(&block));
        assert!(is_block(&format!("\n{block} ")));
        for other in [format!("see {block}"), format!("{block}\n{block}"), format!("{block} ok?"), OPENING.to_owned()] {
            assert!(!is_block(&other), "{other}");
        }
    }
}

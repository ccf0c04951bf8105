//! Recognition of our own blocks among the host's messages.

use crate::recall;

const OPENING: &str = "<recalled-context";

/// Return whether all of a text is one block that we put there, rather than a text that mentions the tag.
pub(super) fn is_block(text: &str) -> bool {
    // Nearly every text is identified by its first characters.
    text.trim_start().starts_with(OPENING) && recall::is_block(text)
}

#[cfg(test)]
pub(super) const BLOCK: &str = "<recalled-context source=\"memory-context\">\n\n<detail>\n[2026-02-10 14:31 user] hello\n</detail>\n\n</recalled-context>";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_block_is_one() {
        assert!(is_block(BLOCK));
        assert!(is_block(&format!("\n{BLOCK} ")));
        let mentioned = BLOCK.replace("[2026-02-10 14:31 user] hello", "something else");
        for other in [format!("see {BLOCK}"), format!("{BLOCK}\n{BLOCK}"), format!("{BLOCK} ok?"), mentioned] {
            assert!(!is_block(&other), "{other}");
        }
    }
}

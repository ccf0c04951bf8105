//! Adapter of our tokenizer for tantivy.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::text::{Mode, for_each_token};

/// Name of the analyzer in tantivy. Change it with the tokens that it produces.
pub(super) const NAME: &str = "memctx-1";

/// Stands behind every token. No token has it.
const END: char = '\n';

/// The tokens of a text. It is read before tantivy gets it: so it is read once, by another thread than the one that
/// indexes, and the length is known to the token.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) joined: String,
    pub(super) count: u64,
}

impl Tokens {
    pub(super) fn of(text: &str) -> Self {
        let mut joined = String::with_capacity(text.len() + text.len() / 2);
        let mut count = 0;
        for_each_token(text, Mode::Memctx, |token| {
            joined.push_str(token);
            joined.push(END);
            count += 1;
        });
        Self { joined, count }
    }
}

/// Takes joined tokens apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Analyzer {
    token: Token,
}

#[derive(Debug)]
pub(super) struct Stream<'a> {
    rest: &'a str,
    token: &'a mut Token,
}

impl Tokenizer for Analyzer {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        // Positions are not indexed: all are the first.
        self.token.position = 0;
        Stream { rest: text, token: &mut self.token }
    }
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        let Some((token, rest)) = self.rest.split_once(END) else { return false };
        self.token.text.clear();
        self.token.text.push_str(token);
        self.rest = rest;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tantivy_sees_the_tokens_of_our_tokenizer(text in "\\PC{0,60}|([a-zA-Z_./]{1,9}|[飞書カ한]{1,5}|[\n\r ﬁ１]){0,40}") {
            let mut expected = Vec::new();
            for_each_token(&text, Mode::Memctx, |token| expected.push(token.to_owned()));
            let tokens = Tokens::of(&text);
            let mut seen = Vec::new();
            Analyzer::default().token_stream(&tokens.joined).process(&mut |token| seen.push(token.text.clone()));
            prop_assert_eq!(tokens.count as usize, expected.len());
            prop_assert_eq!(seen, expected);
        }
    }
}

//! Patterns of tool names.

/// Selection of tools: those that a pattern allows and none denies. No pattern allows all.
#[derive(Clone, Debug, Default)]
pub struct Globs {
    allow: Vec<Vec<char>>,
    deny: Vec<Vec<char>>,
}

impl Globs {
    /// Patterns in which `*` stands for anything and `?` for one character, in either case. Blank ones are left out.
    pub fn new<P: AsRef<str>>(allow: impl IntoIterator<Item = P>, deny: impl IntoIterator<Item = P>) -> Self {
        fn read<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Vec<Vec<char>> {
            let patterns = patterns.into_iter().map(|pattern| lower(pattern.as_ref().trim()));
            patterns.filter(|pattern| !pattern.is_empty()).collect()
        }
        Self { allow: read(allow), deny: read(deny) }
    }

    /// Return whether the tool of that name is meant.
    #[must_use]
    pub fn admit(&self, name: &str) -> bool {
        if self.allow.is_empty() && self.deny.is_empty() {
            return true;
        }
        let name = lower(name.trim());
        let is_among = |patterns: &[Vec<char>]| patterns.iter().any(|pattern| matches(pattern, &name));
        !is_among(&self.deny) && (self.allow.is_empty() || is_among(&self.allow))
    }
}

fn lower(text: &str) -> Vec<char> {
    text.to_lowercase().chars().collect()
}

/// Return whether a pattern covers the whole name. It never looks back further than to the last `*`.
fn matches(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut read) = (0, 0);
    let mut star = None;
    while read < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((index, swallowed)) = star else { return false };
                star = Some((index, swallowed + 1));
                (at, read) = (index + 1, swallowed + 1);
            }
        }
    }
    pattern[at..].iter().all(|&rest| rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::RegexBuilder;

    #[test]
    fn deny_wins_and_an_empty_allow_is_all() {
        assert!(Globs::default().admit("anything"));
        let globs = Globs::new(["Read*", " "], ["*secret*"]);
        assert!(globs.admit("read_file") && globs.admit(" READ"));
        assert!(!globs.admit("read_SECRET_file") && !globs.admit("bash") && !globs.admit(""));
        assert!(Globs::new([], ["bash"]).admit(""));
    }

    proptest! {
        #[test]
        fn a_glob_is_the_regex_it_looks_like(pattern in "[ab*?É]{0,8}", name in "[abAé]{0,10}") {
            let regex = format!("^{}$", pattern.replace('*', ".*").replace('?', "."));
            let regex = RegexBuilder::new(&regex).case_insensitive(true).build().expect("it is a regex");
            prop_assert_eq!(matches(&lower(&pattern), &lower(&name)), regex.is_match(&name));
        }
    }
}

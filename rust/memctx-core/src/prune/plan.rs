//! Plan of a pruning.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::cut::{Cut, Note};
use super::request::{Form, Mode, Overflow, Request};
use super::weight;
use crate::messages::{Conversation, Part, Role, Text};
use crate::text::{CHARS_PER_TOKEN, utf16_len, weighted_len};

/// A result that is sent in another form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Index of its message.
    pub message: u32,
    /// Index among the message's results.
    pub ordinal: u32,
    /// A hash of the id of its call, of its text, and of how many such results stand before it.
    pub key: u64,
    /// Form of the result.
    pub form: Form,
    /// Text that is sent.
    pub text: String,
    /// Tokens before.
    pub tokens_before: u32,
    /// Tokens after.
    pub tokens_after: u32,
}

/// Decide which results are sent shortened or not at all, in the order they stand.
///
/// The same request for what is left of them afterwards prunes nothing more.
#[must_use]
pub fn plan(conversation: &Conversation, request: &Request) -> Vec<Pruned> {
    if request.mode == Mode::Off {
        return Vec::new();
    }
    let mut results = results_of(conversation);
    replay(&mut results, conversation, request);
    match request.mode {
        Mode::Aggressive => clear_all(&mut results, conversation, request),
        Mode::Adaptive => by_share(&mut results, conversation, request),
        Mode::CacheTtl if request.is_cold => by_share(&mut results, conversation, request),
        Mode::CacheTtl | Mode::Off => {}
    }
    if let Some(overflow) = &request.overflow {
        fit(&mut results, conversation, request, overflow);
    }
    results.into_iter().filter_map(|result| result.pruned(request)).collect()
}

/// A result of a tool that has a text.
struct ToolResult<'v> {
    message: usize,
    ordinal: u32,
    key: u64,
    part: &'v Part,
    text: &'v Text,
    form: Option<(Form, String)>,
}

impl ToolResult<'_> {
    /// Return whether it may be shortened for its age, even if it was to fit the window.
    fn may_be_pruned(&self, request: &Request) -> bool {
        let is_ours = || request.cut.was_applied(self.text.body(), Note::Pruned);
        matches!(self.form, None | Some((Form::Fitted(_), _))) && self.is_meant(request) && !is_ours()
    }

    /// Return whether there is anything to shorten in a result of a tool that the settings mean.
    fn is_meant(&self, request: &Request) -> bool {
        !self.part.has_media && request.tools.admit(self.part.name.as_deref().unwrap_or_default())
    }

    /// Give it a form, if that makes it shorter.
    fn take(&mut self, form: Form, request: &Request) {
        if let Some(text) = self.text_in(form, request) {
            self.form = Some((form, text));
        }
    }

    /// Give it a form, and return the characters of the window that this saves.
    fn shorten(&mut self, form: Form, request: &Request) -> u64 {
        let before = self.chars();
        self.take(form, request);
        before - self.chars()
    }

    /// Return its text in a form; none if that is not shorter than the text is now.
    fn text_in(&self, form: Form, request: &Request) -> Option<String> {
        let text = match form {
            Form::Soft => request.cut.apply(self.text.body(), Note::Pruned),
            Form::Clear => Some(request.placeholder.clone()),
            Form::Fitted(chars) => {
                let cut = Cut { max_chars: chars, head_chars: chars / 2, tail_chars: chars / 2 };
                cut.apply(self.text.body(), Note::Pruned)
            }
        };
        text.filter(|text| (weighted_len(text) as u64) < self.chars())
    }

    /// Return the characters of the window that its text takes now.
    fn chars(&self) -> u64 {
        self.form.as_ref().map_or_else(|| self.text.weighted_len(), |(_, text)| weighted_len(text)) as u64
    }

    /// Return its tokens with some text.
    fn tokens_with(&self, text: &str, request: &Request) -> u32 {
        let frame = self.part.tokens.saturating_sub(self.text.tokens());
        frame.saturating_add(u32::try_from(request.estimator.estimate(text)).unwrap_or(u32::MAX))
    }

    /// Return the tokens that it takes now.
    fn tokens(&self, request: &Request) -> u32 {
        self.form.as_ref().map_or(self.part.tokens, |(_, text)| self.tokens_with(text, request))
    }

    fn saved(&self) -> u64 {
        (self.text.weighted_len() as u64).saturating_sub(self.chars())
    }

    fn pruned(self, request: &Request) -> Option<Pruned> {
        let tokens_after = self.tokens(request);
        let (form, text) = self.form?;
        Some(Pruned {
            message: self.message as u32,
            ordinal: self.ordinal,
            key: self.key,
            form,
            text,
            tokens_before: self.part.tokens,
            tokens_after,
        })
    }
}

fn results_of(conversation: &Conversation) -> Vec<ToolResult<'_>> {
    let mut repeats: FxHashMap<u64, u64> = FxHashMap::default();
    let mut found = Vec::new();
    for (message, view) in conversation.views.iter().enumerate() {
        for (ordinal, part) in (0..).zip(view.results()) {
            let Some(text) = part.text.as_deref() else { continue };
            let id = part.id.as_deref().unwrap_or_default();
            let same = xxh3_64_with_seed(id.as_bytes(), text.hash());
            let repeat = repeats.entry(same).or_default();
            let key = xxh3_64_with_seed(&repeat.to_le_bytes(), same);
            *repeat += 1;
            found.push(ToolResult { message, ordinal, key, part, text, form: None });
        }
    }
    found
}

/// Repeat the form of each result from earlier turns. A result that the model has not answered yet cannot have been
/// pruned before but to fit the window, unless none are kept; it only looks like one that was.
fn replay(results: &mut [ToolResult<'_>], conversation: &Conversation, request: &Request) {
    if request.sticky.is_empty() {
        return;
    }
    let answered = match request.keep_last_assistants {
        0 => conversation.views.len(),
        _ => answered(conversation),
    };
    for result in results.iter_mut().filter(|result| !result.part.has_media) {
        if let Some(&form) = request.sticky.get(&result.key)
            && (result.message < answered || matches!(form, Form::Fitted(_)))
        {
            result.take(form, request);
        }
    }
}

/// Return the index of the model's last message: it has answered the results before.
fn answered(conversation: &Conversation) -> usize {
    conversation.views.iter().rposition(|view| view.role == Role::Assistant).unwrap_or(0)
}

/// Return the results that are old enough and whose tools are meant.
fn prunable<'r, 'v>(
    results: &'r mut [ToolResult<'v>],
    conversation: &Conversation,
    request: &Request,
) -> Vec<&'r mut ToolResult<'v>> {
    let views = &conversation.views;
    let start = views.iter().position(|view| view.role == Role::User && !view.is_recalled);
    let (Some(start), Some(end)) = (start, cutoff(conversation, request.keep_last_assistants)) else {
        return Vec::new();
    };
    results
        .iter_mut()
        .filter(|result| (start..end).contains(&result.message) && result.may_be_pruned(request))
        .collect()
}

/// Return the start of the `keep`-th last answer of the model.
fn cutoff(conversation: &Conversation, keep: usize) -> Option<usize> {
    let Some(before) = keep.checked_sub(1) else { return Some(conversation.views.len()) };
    let views = conversation.views.iter().enumerate().rev();
    let answers = views.filter(|(index, view)| view.role == Role::Assistant && !conversation.continues(*index));
    answers.map(|(index, _)| index).nth(before)
}

fn clear_all(results: &mut [ToolResult<'_>], conversation: &Conversation, request: &Request) {
    for result in prunable(results, conversation, request) {
        result.take(Form::Clear, request);
    }
}

/// Shorten what is long, then clear the oldest, as far as the share of the window asks for it.
fn by_share(results: &mut [ToolResult<'_>], conversation: &Conversation, request: &Request) {
    let window = request.context_window as f64 * CHARS_PER_TOKEN as f64;
    let share = |chars: u64| chars as f64 / window;
    let mut chars: u64 = conversation.views.iter().map(weight::of_view).sum();
    chars -= results.iter().map(ToolResult::saved).sum::<u64>();
    if share(chars) < request.soft_trim_ratio {
        return;
    }
    let mut prunable = prunable(results, conversation, request);
    for result in &mut prunable {
        chars -= result.shorten(Form::Soft, request);
    }
    let left: u64 = prunable.iter().map(|result| result.chars()).sum();
    if !request.hard_clear || left < request.min_prunable_tool_chars {
        return;
    }
    for result in prunable {
        if share(chars) < request.hard_clear_ratio {
            break;
        }
        chars -= result.shorten(Form::Clear, request);
    }
}

/// Shorten what the trim left until the conversation fits: first what the model has answered, oldest first, down to the
/// target; then, if that is not enough, the longest of all.
fn fit(results: &mut [ToolResult<'_>], conversation: &Conversation, request: &Request, overflow: &Overflow) {
    let answered = answered(conversation);
    let is_left = |result: &&mut ToolResult<'_>| overflow.removed.binary_search(&(result.message as u32)).is_err();
    let mut left: Vec<_> = results.iter_mut().filter(is_left).filter(|result| result.is_meant(request)).collect();
    let mut saved = 0;
    for result in left.iter_mut().filter(|result| result.message < answered) {
        if saved >= overflow.above_target {
            return;
        }
        let before = result.tokens(request);
        result.take(Form::Soft, request);
        saved += u64::from(before.saturating_sub(result.tokens(request)));
    }
    if saved >= overflow.above_limit {
        return;
    }
    // Halfway to the target: with no slack at all the next turn would be over the limit again.
    let wanted = u64::midpoint(overflow.above_target, overflow.above_limit);
    let form = longest_that_saves(wanted.saturating_sub(saved), &left, request);
    for result in left {
        result.take(form, request);
    }
}

/// Return the form that leaves most of each result and saves so many tokens, or else all that can be saved.
fn longest_that_saves(tokens: u64, results: &[&mut ToolResult<'_>], request: &Request) -> Form {
    /// Characters that always stay of a result, and by which longer forms differ.
    const STEP: usize = 256;
    let saved = |form: Form| -> u64 {
        let saving = |result: &&mut ToolResult<'_>| {
            let text = result.text_in(form, request)?;
            Some(u64::from(result.tokens(request).saturating_sub(result.tokens_with(&text, request))))
        };
        results.iter().filter_map(saving).sum()
    };
    let longest = results.iter().map(|result| utf16_len(result.text.body())).max().unwrap_or(0);
    let (mut fits, mut above) = (1, longest / STEP + 1);
    while above - fits > 1 {
        let middle = usize::midpoint(fits, above);
        if saved(Form::Fitted(middle * STEP)) >= tokens { fits = middle } else { above = middle }
    }
    Form::Fitted(fits * STEP)
}

//! Plan of a pruning.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::cut::Note;
use super::request::{Form, Mode, Request};
use super::weight;
use crate::messages::{Conversation, Part, Role, Text};
use crate::text::{CHARS_PER_TOKEN, weighted_len};

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
    fn may_be_pruned(&self, request: &Request) -> bool {
        let name = self.part.name.as_deref().unwrap_or_default();
        let is_ours = || request.cut.was_applied(self.text.body(), Note::Pruned);
        self.form.is_none() && !self.part.has_media && request.tools.admit(name) && !is_ours()
    }

    /// Give it a form, if that makes it shorter.
    fn take(&mut self, form: Form, request: &Request) {
        let is_longer = || self.text.weighted_len() > weighted_len(&request.placeholder);
        let text = match form {
            Form::Soft => request.cut.apply(self.text.body(), Note::Pruned),
            Form::Clear => is_longer().then(|| request.placeholder.clone()),
        };
        if let Some(text) = text {
            self.form = Some((form, text));
        }
    }

    /// Return the characters of the window that its text takes now.
    fn chars(&self) -> u64 {
        self.form.as_ref().map_or_else(|| self.text.weighted_len(), |(_, text)| weighted_len(text)) as u64
    }

    fn saved(&self) -> u64 {
        (self.text.weighted_len() as u64).saturating_sub(self.chars())
    }

    fn pruned(self, request: &Request) -> Option<Pruned> {
        let (form, text) = self.form?;
        let tokens = u32::try_from(request.estimator.estimate(&text)).unwrap_or(u32::MAX);
        let frame = self.part.tokens.saturating_sub(self.text.tokens());
        Some(Pruned {
            message: self.message as u32,
            ordinal: self.ordinal,
            key: self.key,
            form,
            text,
            tokens_before: self.part.tokens,
            tokens_after: frame.saturating_add(tokens),
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
/// pruned before, unless none are kept; it only looks like one that was.
fn replay(results: &mut [ToolResult<'_>], conversation: &Conversation, request: &Request) {
    if request.sticky.is_empty() {
        return;
    }
    let answered = match request.keep_last_assistants {
        0 => conversation.views.len(),
        _ => conversation.views.iter().rposition(|view| view.role == Role::Assistant).unwrap_or(0),
    };
    for result in results.iter_mut().filter(|result| result.message < answered && !result.part.has_media) {
        if let Some(&form) = request.sticky.get(&result.key) {
            result.take(form, request);
        }
    }
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
        result.take(Form::Soft, request);
        chars -= result.saved();
    }
    let left: u64 = prunable.iter().map(|result| result.chars()).sum();
    if !request.hard_clear || left < request.min_prunable_tool_chars {
        return;
    }
    for result in prunable {
        if share(chars) < request.hard_clear_ratio {
            break;
        }
        let before = result.chars();
        result.take(Form::Clear, request);
        chars -= before.saturating_sub(result.chars());
    }
}

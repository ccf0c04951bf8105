//! The memctx engine: tokenization, indexing, ranking and storage of conversations, without Python.
//!
//! # Store and search
//!
//! A store appends messages to a log and keeps them searchable by words and vectors. It masks secrets before anything
//! is written, and ranks by BM25 and embeddings together:
//!
//! ```
//! use memctx_core::store::{Record, Request, Settings, Store};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("memory");
//! let store = Store::open(&path, Settings::new("session-1"))?;
//! let message = |role, content| Record { role, content, timestamp: None, metadata: None };
//! store.add(&[
//!     message("user", "The webhook listens on port 8443"),
//!     message("assistant", "Noted. The tests run in CI on every push."),
//! ])?;
//!
//! let hits = store.search(&Request { query: "which port?", limit: 1, ..Request::default() })?;
//! assert_eq!(hits[0].segment.content, "The webhook listens on port 8443");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Tokenize
//!
//! [`text`] splits identifiers into their parts and CJK text into characters and bigrams:
//!
//! ```
//! use memctx_core::text::{Estimator, Mode, for_each_token};
//!
//! let mut tokens = Vec::new();
//! for_each_token("payHook 飞书", Mode::Memctx, |token| tokens.push(token.to_owned()));
//! assert_eq!(tokens, ["pay", "hook", "payhook", "飞", "书", "飞书"]);
//! assert_eq!(Estimator::Script.estimate("payHook 飞书"), 5);
//! ```
//!
//! # Redact
//!
//! [`redact`] masks secrets by their format or their context, never for being long or random alone:
//!
//! ```
//! use memctx_core::redact::{Redaction, Redactor};
//!
//! let redactor = Redactor::new(Redaction::Mask, false, &[])?;
//! let masked = redactor.mask("export DB_PASSWORD=k3jf9slw-Qp0 # staging");
//! assert_eq!(masked.text, "export DB_PASSWORD=[REDACTED:password] # staging");
//! # Ok::<(), memctx_core::Error>(())
//! ```
//!
//! # Plan a trim
//!
//! [`trim`] selects the units of a conversation that leave a full context. A plan is a pure function of its input:
//!
//! ```
//! use std::sync::Arc;
//!
//! use memctx_core::messages::{Conversation, Format, Kind, MessageView, Part, Role, Text};
//! use memctx_core::trim::{self, Request};
//!
//! let message = |role, content: &str| {
//!     let text = Arc::new(Text::new(content, 100)); // 100 tokens
//!     MessageView::new(role, vec![Part::new(Kind::Text, Some(text))])
//! };
//! let conversation = Conversation::new(
//!     Format::OpenAi,
//!     vec![
//!         message(Role::User, "Fix the webhook."),
//!         message(Role::Assistant, "Lunch options near the office: soup, pizza, noodles."),
//!         message(Role::Assistant, "The webhook listens on port 8443."),
//!         message(Role::User, "And the port of the webhook?"),
//!     ],
//! );
//! let request = Request { protected_recent: 1, ..Request::new("port of the webhook", 350) };
//! let plan = trim::plan(&conversation, &request);
//! assert_eq!(plan.removed_messages(), [1]);
//! ```
//!
//! # Modules
//!
//! - [`bm25`]: text search with BM25, an exact inverted index in memory.
//! - [`disk_index`]: search over everything ever archived, from disk.
//! - [`embed`]: embedders without a model runtime.
//! - [`facts`]: extraction plans, supersession, search.
//! - [`fusion`]: blending, decay and diversification of rankings.
//! - [`ingest`]: preparation of messages, channel prefixes, noise, topics, entities.
//! - [`messages`]: messages of hosts as views, units, pairs, validation, repair.
//! - [`prune`]: shortening of tool results.
//! - [`recall`]: the block of recalled text.
//! - [`redact`]: masking of secrets.
//! - [`store`]: an append-only log, and indexes over it.
//! - [`text`]: tokenizers and token estimates.
//! - [`trim`]: selection of what leaves a full context.
//! - [`vector`]: exact vector search.
//! - [`vmem`]: the VMEM file format for vectors.
#![deny(unsafe_code)]

mod blocks;
pub mod bm25;
#[cfg(feature = "disk-index")]
pub mod disk_index;
pub mod embed;
mod error;
mod explanation;
pub mod facts;
mod file;
pub mod fusion;
mod id_map;
pub mod ingest;
mod literals;
pub mod messages;
mod pages;
mod prefetch;
pub mod prune;
pub mod recall;
pub mod redact;
pub mod store;
pub mod text;
mod topk;
pub mod trim;
mod varint;
pub mod vector;
pub mod vmem;

pub use error::{Error, Result};
pub use explanation::Explanation;
pub use id_map::{Filter, IdMap};
use prefetch::prefetch;
pub use topk::{Scored, TopK};

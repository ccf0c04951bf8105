//! Calls and results, as every shape puts them on the sheet.

use std::sync::Arc;

use memctx_core::scan::{Kind, Piece};
use pyo3::prelude::*;

use super::content::{Found, texts};
use super::sheet::Sheet;

/// Put a call on the sheet.
pub(crate) fn call<'a, 'py>(
    sheet: &'a mut Sheet<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    question: Option<Bound<'py, PyAny>>,
) -> PyResult<&'a mut Piece> {
    let words = sheet.asked(question)?;
    let piece = &mut sheet.push(Kind::Call, words).piece;
    (piece.id, piece.name) = (id, name);
    Ok(piece)
}

/// Put a result on the sheet that says what its blocks say.
pub(crate) fn result<'a, 'py>(
    sheet: &'a mut Sheet<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    content: Option<&Bound<'py, PyAny>>,
) -> PyResult<&'a mut Piece> {
    let mut found = Found::default();
    texts(sheet, content, 0, &mut found)?;
    Ok(answer(sheet, id, name, found))
}

/// Put a result on the sheet.
pub(crate) fn answer<'a, 'py>(
    sheet: &'a mut Sheet<'py>,
    id: Option<Arc<str>>,
    name: Option<Arc<str>>,
    found: Found<'py>,
) -> &'a mut Piece {
    let words = sheet.joined(found.texts);
    let media = sheet.joined(found.labels).map(|labels| Arc::from(sheet.spelled(&labels)));
    let piece = &mut sheet.push(Kind::Result, words).piece;
    piece.has_media = media.is_some();
    (piece.id, piece.name, piece.media) = (id, name, media);
    (piece.tokens, piece.mark) = (found.tokens, found.mark);
    piece
}

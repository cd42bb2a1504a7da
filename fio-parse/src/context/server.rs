//! What fio says of where and by which version a report was made: banners, and the servers of a client.

use crate::era::Version;
use crate::record::Label;
use std::collections::HashMap;
use std::sync::Arc;

/// The version that a banner stated, as printed and as read.
#[derive(Clone)]
pub(super) struct Stated {
    /// As printed.
    pub text: Arc<str>,
    /// As read, where that is possible.
    pub version: Option<Version>,
}

impl Stated {
    pub fn read(text: &str) -> Self {
        Self {
            text: text.into(),
            version: Version::read(text).map(|(version, _)| version),
        }
    }
}

/// The server whose report is read.
#[derive(Default)]
pub(super) struct Host<'t> {
    /// Its name.
    pub label: Option<Label>,
    /// Whether no result of it was seen yet.
    pub fresh: bool,
    /// The versions that servers stated when they were connected.
    pub versions: HashMap<&'t str, Option<&'t str>>,
}

impl Host<'_> {
    /// Whether a name in angles is a server's: one that was connected, or one as no word of a sentence is.
    pub fn is_server(&self, name: &str) -> bool {
        self.versions.contains_key(name)
            || name.contains(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '_'))
    }
}

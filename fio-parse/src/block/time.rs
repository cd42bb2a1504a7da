//! Reports of `time`.

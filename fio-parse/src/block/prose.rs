//! Headings, captions, lists, sentences.

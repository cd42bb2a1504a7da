//! Terse lines to records.

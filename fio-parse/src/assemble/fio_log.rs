//! Logs to summary records.

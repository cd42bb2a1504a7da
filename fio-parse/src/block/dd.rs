//! dd's reports.

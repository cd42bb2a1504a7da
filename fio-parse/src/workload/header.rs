//! The header lines of a fio report.

//! fio's terse lines.

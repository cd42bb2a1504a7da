//! fio's JSON and JSON+, alone or between other text.

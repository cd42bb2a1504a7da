//! fio's options: names, aliases, kinds of value.

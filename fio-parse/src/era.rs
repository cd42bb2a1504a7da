//! fio's eras: versions, and which printer of which era wrote a figure.

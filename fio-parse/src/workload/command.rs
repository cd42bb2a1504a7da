//! fio and dd command lines as people write them.

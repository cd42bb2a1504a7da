//! fio's bandwidth, IOPS and latency logs.

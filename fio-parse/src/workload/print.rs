//! A workload as a command line and as a job file.

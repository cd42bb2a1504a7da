//! The lines below `Run status group`.

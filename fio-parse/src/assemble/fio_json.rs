//! JSON documents to records.

//! Group lines to measurements.

//! dd reports to measurements.

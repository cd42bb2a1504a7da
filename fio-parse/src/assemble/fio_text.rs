//! Job sections to measurements.

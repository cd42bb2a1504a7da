//! Job sections of fio's normal output.

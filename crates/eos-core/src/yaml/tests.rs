//! What is read, refused and written.

//! Cutting bytes into frames, and putting frames into bytes.

//! Text from outside in an address.

/// Encodes text from outside (a model's name) so that it is one step of a path and nothing else.
///
/// ```
/// use llm_core::codec::path_segment;
/// assert_eq!(path_segment("gemini-2.5-pro"), "gemini-2.5-pro");
/// assert_eq!(path_segment("../v1/keys?x"), "..%2Fv1%2Fkeys%3Fx");
/// assert_eq!(path_segment("%2e%2e"), "%252e%252e");
/// ```
pub fn path_segment(text: &str) -> String {
    if matches!(text, "." | "..") {
        // `.` and `..` mean a step even when encoded; encoded twice they are a name nobody has.
        return text.replace('.', "%252E");
    }
    percent_encode(text)
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub fn percent_encode(text: &str) -> String {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.push(char::from(DIGITS[usize::from(byte >> 4)]));
            encoded.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
    encoded
}

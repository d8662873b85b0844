//! Ids of calls.

/// An id for a call that came without one: the same for the same answer, however its bytes were cut, and another
/// one for another answer.
pub(crate) fn generated_id(seed: &str, number: u32) -> String {
    format!("call_{:016x}_{number}", hash(seed))
}

/// The same number for the same text on every machine (FNV-1a).
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

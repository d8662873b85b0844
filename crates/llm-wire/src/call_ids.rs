//! Ids for calls that came without one.

/// An id for a call that came without one: the same for the same answer, however its bytes were cut, and another
/// one for another answer (FNV-1a over what is known of it).
pub(crate) fn generated_id(seed: &str, number: u32) -> String {
    let hash = seed.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("call_{hash:016x}_{number}")
}

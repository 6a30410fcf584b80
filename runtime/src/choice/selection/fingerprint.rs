//! A hash of texts that ranks compare.

/// The FNV-1a hash of a text, which is portable because only its arithmetic defines it.
pub(super) fn print_of(text: &str) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, mix)
}

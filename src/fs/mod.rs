//! Formats on disk: git's own files, bbolt databases, and ext2, ext3 and ext4 on a device.

pub(crate) mod bbolt;
#[cfg(target_os = "linux")]
pub(crate) mod ext4;
pub mod git;

/// The two bytes at `at`, little-endian; 0 beyond the end.
fn u16_at(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |two| u16::from_le_bytes(*two))
}

/// The four bytes at `at`, little-endian; 0 beyond the end.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four))
}

/// The eight bytes at `at`, little-endian; 0 beyond the end.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |all| u64::from_le_bytes(*all))
}

//! How much a test tries, as the environment says: `WARPLINE_PROGRAMS`, `WARPLINE_SEED` and others.

/// The number that a variable has; the usual one if it is not set.
///
/// # Panics
/// If it is set to something else than a number.
pub fn number(name: &str, usual: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}={text}: a number is expected")),
        Err(_) => usual,
    }
}

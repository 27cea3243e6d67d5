//! Patterns of names.

/// Whether a name is one that a pattern stands for: `*` is any characters, `?` one.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            // The last `*` takes one more.
            _ => match star {
                Some((at, begin)) => {
                    star = Some((at, begin + 1));
                    p = at + 1;
                    n = begin + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

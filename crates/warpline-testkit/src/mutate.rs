//! Inputs that are nearly right: proper ones with small changes, for tests that nothing takes a program by surprise.

use crate::rng::SplitMix64;

/// Numbers at which widths, shifts and sizes change their meaning.
const NUMBERS: [&str; 18] = [
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "129",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
];

/// A copy of `text` with one to four changes: tokens replaced by others of the text, of `words`, or by numbers at
/// limits; lines and ranges deleted, doubled and exchanged; single bytes changed.
pub fn text(rng: &mut SplitMix64, text: &str, words: &[&str]) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    for _ in 0..rng.between(1, 4) {
        match rng.below(10) {
            0..=4 => replace_token(rng, &mut out, words),
            5..=6 => lines(rng, &mut out),
            7 => range(rng, &mut out),
            _ => bytes(rng, &mut out, 1),
        }
    }
    out
}

/// A copy of `text` with one token replaced, as [`text()`] does it: more of these are right.
pub fn token(rng: &mut SplitMix64, text: &str, words: &[&str]) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    replace_token(rng, &mut out, words);
    out
}

/// A copy of `data` with up to eight changed bytes, or with a range deleted or doubled, or cut off.
pub fn binary(rng: &mut SplitMix64, data: &[u8]) -> Vec<u8> {
    let mut out = data.to_vec();
    match rng.below(8) {
        0 => out.truncate(rng.below(out.len() + 1)),
        1 => range(rng, &mut out),
        _ => {
            let changes = rng.between(1, 8);
            bytes(rng, &mut out, changes);
        }
    }
    out
}

fn bytes(rng: &mut SplitMix64, out: &mut [u8], changes: usize) {
    for _ in 0..changes {
        if !out.is_empty() {
            let at = rng.below(out.len());
            out[at] = match rng.below(3) {
                0 => out[at] ^ (1 << rng.below(8)),
                1 => *rng.pick(b"\0\n\x1b\"%@*/;:=-,.(){}[]<>\xff "),
                _ => rng.next_u64() as u8,
            };
        }
    }
}

fn range(rng: &mut SplitMix64, out: &mut Vec<u8>) {
    if out.is_empty() {
        return;
    }
    let from = rng.below(out.len());
    let to = (from + rng.between(1, 40)).min(out.len());
    match rng.below(2) {
        0 => drop(out.drain(from..to)),
        _ => {
            let copy = out[from..to].to_vec();
            out.splice(to..to, copy);
        }
    }
}

fn lines(rng: &mut SplitMix64, out: &mut Vec<u8>) {
    let mut all: Vec<Vec<u8>> = out.split_inclusive(|&c| c == b'\n').map(<[u8]>::to_vec).collect();
    if all.is_empty() {
        return;
    }
    let (a, b) = (rng.below(all.len()), rng.below(all.len()));
    match rng.below(4) {
        0 => drop(all.remove(a)),
        1 => all.insert(b, all[a].clone()),
        _ => all.swap(a, b),
    }
    *out = all.concat();
}

/// Where words of letters, digits and what belongs to names begin and end.
fn tokens(text: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'%' | b'@' | b'$' | b'-');
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let length = text[at..].iter().take_while(|&&c| is_word(c)).count();
        if length > 0 {
            found.push((at, at + length));
        }
        at += length + 1;
    }
    found
}

fn replace_token(rng: &mut SplitMix64, out: &mut Vec<u8>, words: &[&str]) {
    let found = tokens(out);
    if found.is_empty() {
        return;
    }
    let &(from, to) = rng.pick(&found);
    let new = match rng.below(4) {
        0 if out[from].is_ascii_digit() || out[from] == b'-' => rng.pick(&NUMBERS).as_bytes().to_vec(),
        0 | 1 if !words.is_empty() => rng.pick(words).as_bytes().to_vec(),
        2 if out[from] == b'i' && to - from > 1 => format!("i{}", rng.pick(&NUMBERS)).into_bytes(),
        _ => {
            let &(from, to) = rng.pick(&found);
            out[from..to].to_vec()
        }
    };
    out.splice(from..to, new);
}

/// A number from a variable of the environment, or else `default`.
pub fn setting(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_small_and_come_back_with_the_seed() {
        let source = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n";
        let made: Vec<Vec<u8>> =
            (0..200).map(|seed| text(&mut SplitMix64::new(seed), source, &["mul"])).collect();
        let again = text(&mut SplitMix64::new(7), source, &["mul"]);
        assert_eq!(made[7], again);
        assert!(made.iter().filter(|m| m.as_slice() != source.as_bytes()).count() > 150);
        assert!(made.iter().all(|m| m.len() < source.len() + 400));
        assert!(made.iter().any(|m| String::from_utf8_lossy(m).contains("mul i32")));
    }
}

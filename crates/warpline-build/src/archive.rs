//! Static libraries in the form that GNU's and LLVM's linkers read on Unix.

/// An object file of a library.
pub(crate) struct Member {
    /// Its name, with not more than 15 characters.
    pub name: String,
    /// The functions that others call.
    pub symbols: Vec<String>,
    /// The object.
    pub object: Vec<u8>,
}

const MAGIC: &[u8] = b"!<arch>\n";
const HEADER: usize = 60;

/// The bytes of a library. Nothing in them depends on when or by whom it was made.
pub(crate) fn archive(members: &[Member]) -> Vec<u8> {
    let symbols: Vec<&String> = members.iter().flat_map(|member| &member.symbols).collect();
    let names: usize = symbols.iter().map(|name| name.len() + 1).sum();
    let index_size = 4 + 4 * symbols.len() + names;
    let mut at = MAGIC.len() + HEADER + padded(index_size);
    let mut index = (symbols.len() as u32).to_be_bytes().to_vec();
    for member in members {
        for _ in &member.symbols {
            index.extend((at as u32).to_be_bytes());
        }
        at += HEADER + padded(member.object.len());
    }
    for name in symbols {
        index.extend(name.as_bytes());
        index.push(0);
    }
    let mut out = MAGIC.to_vec();
    add(&mut out, "/", &index);
    for member in members {
        add(&mut out, &format!("{}/", member.name), &member.object);
    }
    out
}

fn padded(size: usize) -> usize {
    size + size % 2
}

fn add(out: &mut Vec<u8>, name: &str, contents: &[u8]) {
    out.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 0, 644, contents.len()).bytes());
    out.extend(contents);
    if contents.len() % 2 == 1 {
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_leads_to_the_members() {
        let member = |name: &str, symbols: &[&str], object: &[u8]| Member {
            name: name.into(),
            symbols: symbols.iter().map(|&name| name.to_owned()).collect(),
            object: object.to_vec(),
        };
        let bytes = archive(&[member("0.o", &["f", "gg"], b"odd"), member("1.o", &["h"], b"even")]);
        assert_eq!(bytes.len() % 2, 0);
        let index = &bytes[MAGIC.len() + HEADER..];
        assert_eq!(index[..4], 3u32.to_be_bytes());
        assert_eq!(&index[16..23], b"f\0gg\0h\0");
        for (k, object) in [(0, &b"odd"[..]), (1, b"odd"), (2, b"even")] {
            let at = u32::from_be_bytes(index[4 + 4 * k..8 + 4 * k].try_into().unwrap()) as usize;
            assert_eq!(&bytes[at + 58..at + 60], b"`\n");
            assert_eq!(&bytes[at + 60..at + 60 + object.len()], object);
        }
    }
}

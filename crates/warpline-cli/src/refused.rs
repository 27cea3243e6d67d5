//! What is said of loops that could not be vectorized: each with its reason, or, of many, the reasons by how often
//! they occur.

use warpline_compile::loops::RefusedLoop;

/// Of so many loops each is listed.
const FEW: usize = 3;
/// So many reasons are told of more loops, and so many places of each.
const REASONS: usize = 4;
const PLACES: usize = 4;

/// Lines about loops that stay as they are: one for each, or, unless all are wanted, their commonest reasons.
pub(crate) fn lines(refused: &[RefusedLoop], all: bool) -> Vec<String> {
    let texts = refused.iter().map(|one| (one.place.clone(), one.reason.to_string()));
    of_texts(&texts.collect::<Vec<_>>(), all)
}

/// The lines about loops that begin at these places and are refused for these reasons: of many loops the commonest
/// reasons.
fn of_texts(refused: &[(String, String)], all: bool) -> Vec<String> {
    let mut each: Vec<String> = Vec::new();
    for (_, reason) in refused {
        let text = format!("warning: {reason}; it stays as it is");
        if !each.contains(&text) {
            each.push(text);
        }
    }
    if all || each.len() <= FEW {
        return each;
    }
    let groups = grouped(refused);
    let loops: usize = groups.iter().map(|group| group.places.len()).sum();
    let mut lines = vec![format!("warning: {loops} loops stay as they are:")];
    lines.extend(groups.iter().take(REASONS).map(Group::line));
    let rest: usize = groups.iter().skip(REASONS).map(|group| group.places.len()).sum();
    lines.extend(match rest {
        0 => None,
        1 => Some("  and 1 for another reason: -v".to_owned()),
        n => Some(format!("  and {n} for other reasons: -v")),
    });
    lines
}

/// Loops that are refused for the same reason.
struct Group {
    reason: String,
    places: Vec<String>,
}

impl Group {
    fn line(&self) -> String {
        let mut shown = Vec::new();
        let mut file = "";
        for place in self.places.iter().take(PLACES) {
            // Of places in one file, only the first is written with its name.
            match place.rsplit_once(':') {
                Some((this, line)) if this == file => shown.push(line),
                Some((this, _)) => {
                    file = this;
                    shown.push(place);
                }
                None => shown.push(place),
            }
        }
        let more = self.places.len().saturating_sub(PLACES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("  {}{more}: {}", shown.join(", "), self.reason)
    }
}

/// Loops by their reasons, the commonest first. A loop that was expanded inline elsewhere is there once.
fn grouped(refused: &[(String, String)]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (begins, text) in refused {
        let (place, reason) = taken_apart(text);
        let place = place.unwrap_or(begins).to_owned();
        match groups.iter_mut().find(|group| group.reason == reason) {
            Some(group) if group.places.contains(&place) => {}
            Some(group) => group.places.push(place),
            None => groups.push(Group { reason, places: vec![place] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.places.len()));
    groups
}

/// A reason without the names of the function and of values, and without places.
pub(crate) fn in_short(reason: &str) -> String {
    taken_apart(reason).1
}

/// The line that a reason is about, if it names one, and what is left of it without names of places and values.
fn taken_apart(text: &str) -> (Option<&str>, String) {
    let (place, reason) = match text.split_once(": function `") {
        Some((before, after)) => {
            let place = before.rsplit(' ').next().filter(|word| is_place(word));
            (place.and_then(without_column), after.split_once("`: ").map_or(after, |(_, reason)| reason))
        }
        None => (None, text),
    };
    let mut words: Vec<&str> = Vec::new();
    for word in reason.split(' ') {
        if is_place(word) {
            // "at" or "in", and the place's punctuation.
            words.pop();
            let end = &word[word.trim_end_matches([',', ';', ':']).len()..];
            if !end.is_empty() {
                words.push(end);
            }
        } else if word.starts_with('%') {
            words.push("a value");
        } else {
            words.push(word);
        }
    }
    (place, words.join(" ").replace(" ,", ",").replace(" ;", ";").replace(" :", ":"))
}

/// `file:line` of `file:line:column`; what has no column as it is.
fn without_column(place: &str) -> Option<&str> {
    let (before, last) = place.rsplit_once(':')?;
    let has_column = before.rsplit_once(':').is_some_and(|(_, line)| is_number(line));
    let place = if has_column && is_number(last) { before } else { place };
    // Code that the compiler put there is in line 0.
    (!place.ends_with(":0")).then_some(place)
}

/// Whether a word ends with a file's name and a line.
fn is_place(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':']);
    word.rsplit_once(':').is_some_and(|(file, line)| !file.is_empty() && is_number(line))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depends(line: u32) -> (String, String) {
        let reason = format!(
            "the loop at a.c:{line} cannot be vectorized: a.c:{line}:9: function `f{line}`, `store`: depends on the \
             load at a.c:{line}:7 in the next iteration, through memory"
        );
        (format!("a.c:{line}"), reason)
    }

    #[test]
    fn few_loops_are_told_one_by_one() {
        let few: Vec<_> = (1..=3).map(depends).collect();
        let lines = of_texts(&few, false);
        assert_eq!(lines.len(), 3);
        assert!(
            lines[2].starts_with("warning: the loop at a.c:3 cannot be vectorized: a.c:3:9: "),
            "{lines:?}"
        );
    }

    #[test]
    fn many_loops_are_told_by_their_reasons_and_all_of_them_on_request() {
        let other = "the loop at b.c:4 cannot be vectorized: b.c:5:1: function `g`: uses what %j.0 carries; \
                     compute it";
        let mut many: Vec<_> = (1..=6).map(depends).collect();
        // The same loop, in a function that it was expanded in.
        many.push(("a.c:90".to_owned(), depends(2).1));
        many.push(("b.c:4".to_owned(), other.to_owned()));
        assert_eq!(
            of_texts(&many, false),
            [
                "warning: 7 loops stay as they are:",
                "  a.c:1, 2, 3, 4 and 2 more: depends on the load in the next iteration, through memory",
                "  b.c:5: uses what a value carries; compute it",
            ]
        );
        assert_eq!(of_texts(&many, true).len(), 7);
    }
}

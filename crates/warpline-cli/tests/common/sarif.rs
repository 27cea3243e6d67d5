//! What the schema of SARIF 2.1.0 asks of the objects that are written: which members they may and must have, of which
//! type, and how they are limited.

use serde_json::Value;

/// What a member must be.
enum Must {
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An integer that is not less.
    From(i64),
    /// An object of this name.
    Object(&'static str),
    /// An object with texts of any names.
    Texts,
    /// At least so many; all different if that is said.
    List(&'static str, usize, bool),
}

use Must::{From, List, Object, Text, Texts, Word};

/// A name of an object; its members, with what they must be; those that it must have, and of which it needs one.
struct Rule {
    name: &'static str,
    members: &'static [(&'static str, Must)],
    required: &'static [&'static str],
    any_of: &'static [&'static str],
}

/// The objects in use. Members that the schema has and nothing writes are left out.
const RULES: &[Rule] = &[
    Rule {
        name: "log",
        members: &[("$schema", Text), ("version", Word(&["2.1.0"])), ("runs", List("run", 0, false))],
        required: &["version", "runs"],
        any_of: &[],
    },
    Rule {
        name: "run",
        members: &[
            ("tool", Object("tool")),
            ("results", List("result", 0, false)),
            ("columnKind", Word(&["utf16CodeUnits", "unicodeCodePoints"])),
        ],
        required: &["tool"],
        any_of: &[],
    },
    Rule { name: "tool", members: &[("driver", Object("driver"))], required: &["driver"], any_of: &[] },
    Rule {
        name: "driver",
        members: &[("name", Text), ("version", Text), ("rules", List("rule", 0, true))],
        required: &["name"],
        any_of: &[],
    },
    Rule {
        name: "rule",
        members: &[("id", Text), ("shortDescription", Object("description"))],
        required: &["id"],
        any_of: &[],
    },
    Rule { name: "description", members: &[("text", Text)], required: &["text"], any_of: &[] },
    Rule {
        name: "result",
        members: &[
            ("ruleId", Text),
            ("level", Word(&["none", "note", "warning", "error"])),
            ("message", Object("message")),
            ("locations", List("location", 0, false)),
            ("relatedLocations", List("location", 0, true)),
            ("codeFlows", List("codeFlow", 0, false)),
            ("partialFingerprints", Texts),
            ("baselineState", Word(&["new", "unchanged", "updated", "absent"])),
            ("suppressions", List("suppression", 0, true)),
        ],
        required: &["message"],
        any_of: &[],
    },
    Rule {
        name: "message",
        members: &[("text", Text), ("id", Text)],
        required: &[],
        any_of: &["text", "id"],
    },
    Rule {
        name: "location",
        members: &[("physicalLocation", Object("physicalLocation")), ("message", Object("message"))],
        required: &[],
        any_of: &[],
    },
    Rule {
        name: "physicalLocation",
        members: &[("artifactLocation", Object("artifactLocation")), ("region", Object("region"))],
        required: &[],
        any_of: &["address", "artifactLocation"],
    },
    Rule { name: "artifactLocation", members: &[("uri", Text)], required: &[], any_of: &[] },
    Rule {
        name: "region",
        members: &[("startLine", From(1)), ("startColumn", From(1))],
        required: &[],
        any_of: &[],
    },
    Rule {
        name: "codeFlow",
        members: &[("threadFlows", List("threadFlow", 1, false))],
        required: &["threadFlows"],
        any_of: &[],
    },
    Rule {
        name: "threadFlow",
        members: &[("locations", List("threadFlowLocation", 1, false))],
        required: &["locations"],
        any_of: &[],
    },
    Rule {
        name: "threadFlowLocation",
        members: &[("location", Object("location"))],
        required: &[],
        any_of: &[],
    },
    Rule {
        name: "suppression",
        members: &[("kind", Word(&["inSource", "external"])), ("justification", Text)],
        required: &["kind"],
        any_of: &[],
    },
];

/// Checks a log against the rules of the schema, and that each result is of a rule that is listed.
///
/// # Errors
/// Says where which rule is broken.
pub fn check(log: &Value) -> Result<(), String> {
    object(log, "log", "log")?;
    for run in log["runs"].as_array().into_iter().flatten() {
        let rules = run["tool"]["driver"]["rules"].as_array().into_iter().flatten();
        let known: Vec<&Value> = rules.map(|rule| &rule["id"]).collect();
        let results = run["results"].as_array().into_iter().flatten();
        if let Some(result) = { results }.find(|result| !known.contains(&&result["ruleId"])) {
            return Err(format!("{} is not among the rules", result["ruleId"]));
        }
    }
    Ok(())
}

fn object(value: &Value, name: &str, at: &str) -> Result<(), String> {
    let rule = RULES.iter().find(|rule| rule.name == name).ok_or_else(|| format!("no rule for {name}"))?;
    let members = value.as_object().ok_or_else(|| format!("{at} is no object"))?;
    for key in rule.required {
        members.get(*key).ok_or_else(|| format!("{at} lacks {key}"))?;
    }
    if !rule.any_of.is_empty() && !rule.any_of.iter().any(|key| members.contains_key(*key)) {
        return Err(format!("{at} has none of {:?}", rule.any_of));
    }
    for (key, value) in members {
        let known = rule.members.iter().find(|(name, _)| name == key);
        let (_, must) = known.ok_or_else(|| format!("{at} may not have {key}"))?;
        member(value, must, &format!("{at}.{key}"))?;
    }
    Ok(())
}

fn member(value: &Value, must: &Must, at: &str) -> Result<(), String> {
    let holds = match must {
        Text => value.is_string(),
        Word(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        From(least) => value.as_i64().is_some_and(|n| n >= *least),
        Texts => value.as_object().is_some_and(|all| all.values().all(Value::is_string)),
        Object(name) => return object(value, name, at),
        List(name, least, unique) => {
            let list = value.as_array().ok_or_else(|| format!("{at} is no list"))?;
            list.iter().enumerate().try_for_each(|(i, one)| object(one, name, &format!("{at}[{i}]")))?;
            let repeated = (0..list.len()).any(|i| list[..i].contains(&list[i]));
            list.len() >= *least && !(*unique && repeated)
        }
    };
    if holds { Ok(()) } else { Err(format!("{at} is {value}")) }
}

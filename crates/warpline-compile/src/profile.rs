//! Profiles: how often branches were taken in a run, which code is then chosen by.
//!
//! `warpline run --profile-out` counts while the lane interpreter runs a kernel. The file is JSON:
//!
//! ```json
//! { "warpline_profile": 1,
//!   "functions": [
//!     { "name": "f", "code": "9b1d02c5a7e41f60", "ranges": 1, "indices": 1000,
//!       "branches": [
//!         { "block": 2, "line": 7, "group": 8, "came": 125,
//!           "edges": [ { "lanes": 31, "groups": 14 }, { "lanes": 969, "groups": 125 } ] } ] } ] }
//! ```
//!
//! `block` is the position of the block that ends in the branch. `came` is how many groups of at most `group` lanes
//! executed it, `lanes` how many lanes took an edge, and `groups` how many groups had a lane that took it. `code`
//! identifies the function as it was: what has changed since then has other blocks, so its profile is ignored, with a
//! warning. A profile becomes weights of edges, as `!prof` of LLVM does. It changes choices, never results.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::{Value as Json, json};
use warpline_ir::{Block, Function, GroupCount, Module, Op, Value};

use crate::error::{Error, Result};

/// The version of the form.
const VERSION: u64 = 1;
/// The key that says that a file is a profile.
const KEY: &str = "warpline_profile";

/// What was counted in runs of functions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Profile {
    /// The functions, by name.
    pub functions: BTreeMap<String, FunctionProfile>,
}

/// What was counted in runs of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionProfile {
    /// What identifies its code.
    pub code: u64,
    /// How many ranges it was run over, if it is a kernel.
    pub ranges: u64,
    /// How many indices these had.
    pub indices: u64,
    /// Its branches, by the position of their block.
    pub branches: BTreeMap<usize, Branch>,
}

/// How often a branch was executed, and where control went.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Branch {
    /// Its line in the source, for those who read the file.
    pub line: Option<u32>,
    /// The number of lanes of a whole group.
    pub group: u32,
    /// How many groups with an active lane came.
    pub came: u64,
    /// The edges, in their order.
    pub edges: Vec<Taken>,
}

/// How often an edge was taken.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Taken {
    /// By how many lanes.
    pub lanes: u64,
    /// How many groups had such a lane.
    pub groups: u64,
}

impl Profile {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read or is no profile.
    pub fn read(path: &Path) -> Result<Profile> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::input(path, e.to_string()))?;
        Profile::parse(&text).map_err(|why| Error::input(path, format!("it is no profile: {why}")))
    }

    /// Reads the form of a file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> std::result::Result<Profile, String> {
        let file: Json = serde_json::from_str(text).map_err(|e| e.to_string())?;
        match file.get(KEY).map(Json::as_u64) {
            Some(Some(VERSION)) => {}
            Some(_) => return Err(format!("`{KEY}` is not {VERSION}, the version that is read")),
            None => return Err(format!("there is no `{KEY}`")),
        }
        let mut profile = Profile::default();
        for (k, function) in list(&file, "functions")?.iter().enumerate() {
            let at = |why: String| format!("functions[{k}]: {why}");
            let name = text_of(function, "name").map_err(at)?;
            let one = FunctionProfile::parse(function).map_err(at)?;
            if profile.functions.insert(name.to_owned(), one).is_some() {
                return Err(at(format!("`{name}` is there twice")));
            }
        }
        Ok(profile)
    }

    /// The form of a file.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let functions = self.functions.iter().map(|(name, one)| one.to_json(name));
        json!({ KEY: VERSION, "functions": functions.collect::<Vec<_>>() })
    }

    /// Gives the branches of a module their weights. Says what of the profile is ignored, and why.
    #[must_use]
    pub fn apply(&self, module: &mut Module) -> Vec<String> {
        let (mut ignored, mut found) = (Vec::new(), false);
        let ids: Vec<_> = module.functions.keys().collect();
        for id in ids {
            let func = &module.functions[id];
            let Some(counted) = self.functions.get(&*func.name) else { continue };
            found = true;
            if counted.code == identify(module, func) {
                counted.apply(&mut module.functions[id]);
            } else {
                ignored.push(format!(
                    "the profile of `{}` belongs to other code and is ignored; `warpline run --profile-out` makes a \
                     new one",
                    func.name
                ));
            }
        }
        if !found {
            ignored.push("the profile has none of the input's functions".to_owned());
        }
        ignored
    }

    /// How many indices a range of a kernel is expected to have, if its code is what was counted.
    #[must_use]
    pub fn indices(&self, module: &Module, func: &Function) -> Option<u64> {
        let counted = self.functions.get(&*func.name).filter(|c| c.code == identify(module, func))?;
        counted.indices.checked_div(counted.ranges)
    }
}

impl FunctionProfile {
    /// Adds what was counted of the branch at the end of a block.
    pub fn add(&mut self, block: usize, counted: &Branch) {
        match self.branches.get_mut(&block) {
            Some(known) if known.group == counted.group && known.edges.len() == counted.edges.len() => {
                known.came = known.came.saturating_add(counted.came);
                for (sum, more) in known.edges.iter_mut().zip(&counted.edges) {
                    sum.lanes = sum.lanes.saturating_add(more.lanes);
                    sum.groups = sum.groups.saturating_add(more.groups);
                }
            }
            // Of two runs in different groups, the last.
            _ => {
                self.branches.insert(block, counted.clone());
            }
        }
    }

    fn parse(json: &Json) -> std::result::Result<FunctionProfile, String> {
        let code = text_of(json, "code")?;
        let code = u64::from_str_radix(code, 16).map_err(|_| format!("`code` is no number: {code:?}"))?;
        let mut branches = BTreeMap::new();
        for (k, branch) in list(json, "branches")?.iter().enumerate() {
            let at = |why: String| format!("branches[{k}]: {why}");
            let block = usize::try_from(number(branch, "block").map_err(at)?).unwrap_or(usize::MAX);
            if branches.insert(block, Branch::parse(branch).map_err(at)?).is_some() {
                return Err(at(format!("block {block} is there twice")));
            }
        }
        Ok(FunctionProfile {
            code,
            ranges: number(json, "ranges")?,
            indices: number(json, "indices")?,
            branches,
        })
    }

    fn to_json(&self, name: &str) -> Json {
        let branches = self.branches.iter().map(|(block, branch)| branch.to_json(*block));
        json!({
            "name": name,
            "code": format!("{:016x}", self.code),
            "ranges": self.ranges,
            "indices": self.indices,
            "branches": branches.collect::<Vec<_>>(),
        })
    }

    fn apply(&self, func: &mut Function) {
        for (&block, counted) in &self.branches {
            let Some(&b) = func.layout.get(block) else { continue };
            let edges = func.out_edges(b).to_vec();
            // A file may say anything.
            if edges.len() != counted.edges.len() || edges.len() < 2 {
                continue;
            }
            let most = counted.edges.iter().map(|e| e.lanes).max().unwrap_or(0);
            if most == 0 {
                continue;
            }
            for (&e, taken) in edges.iter().zip(&counted.edges) {
                func.weights[e] = Some(scaled(taken.lanes, most));
                func.groups[e] = counted.group_count(taken);
            }
        }
    }
}

impl Branch {
    fn parse(json: &Json) -> std::result::Result<Branch, String> {
        let group = number(json, "group")?;
        let group = u32::try_from(group).ok().filter(|g| (1..=64).contains(g));
        let mut edges = Vec::new();
        for (k, edge) in list(json, "edges")?.iter().enumerate() {
            let at = |why: String| format!("edges[{k}]: {why}");
            let (lanes, groups) = (number(edge, "lanes").map_err(at)?, number(edge, "groups").map_err(at)?);
            edges.push(Taken { lanes, groups });
        }
        let line = match json.get("line") {
            None => None,
            Some(_) => Some(u32::try_from(number(json, "line")?).map_err(|_| "`line` is too great")?),
        };
        Ok(Branch {
            line,
            group: group.ok_or("`group` is not between 1 and 64")?,
            came: number(json, "came")?,
            edges,
        })
    }

    fn to_json(&self, block: usize) -> Json {
        let edges: Vec<Json> =
            self.edges.iter().map(|e| json!({ "lanes": e.lanes, "groups": e.groups })).collect();
        let mut json = json!({ "block": block });
        if let Some(line) = self.line {
            json["line"] = line.into();
        }
        json["group"] = self.group.into();
        json["came"] = self.came.into();
        json["edges"] = edges.into();
        json
    }

    /// What is known of groups that take an edge.
    fn group_count(&self, taken: &Taken) -> Option<GroupCount> {
        let known = self.group > 1 && self.came > 0;
        known.then(|| GroupCount {
            lanes: self.group,
            came: scaled(self.came, self.came),
            took: scaled(taken.groups.min(self.came), self.came),
        })
    }
}

/// A count as a weight. The greatest of all must fit; what was counted at all does not become 0.
fn scaled(count: u64, most: u64) -> u32 {
    let limit = u64::from(u32::MAX);
    let divisor = most / limit + 1;
    u32::try_from(count / divisor).unwrap_or(u32::MAX).max(u32::from(count > 0))
}

fn list<'a>(json: &'a Json, key: &str) -> std::result::Result<&'a Vec<Json>, String> {
    json.get(key).and_then(Json::as_array).ok_or_else(|| format!("`{key}` is no list"))
}

fn number(json: &Json, key: &str) -> std::result::Result<u64, String> {
    json.get(key).and_then(Json::as_u64).ok_or_else(|| format!("`{key}` is no number of at most 64 bits"))
}

fn text_of<'a>(json: &'a Json, key: &str) -> std::result::Result<&'a str, String> {
    json.get(key).and_then(Json::as_str).ok_or_else(|| format!("`{key}` is no text"))
}

/// What identifies the code of a function: its blocks, what their instructions are called and work on, and where
/// control goes. Names of values, lines and weights do not count.
#[must_use]
pub fn identify(module: &Module, func: &Function) -> u64 {
    let mut hash = Hash::default();
    let insts = func.layout.iter().flat_map(|&b| func.block_insts(b));
    let results = insts.flat_map(|i| func.insts[i].results.iter().copied());
    let values = func.params.iter().copied().chain(results);
    let numbers: HashMap<Value, u32> = values.zip(1..).collect();
    let places: HashMap<Block, u32> = func.layout.iter().copied().zip(0..).collect();
    let value = |hash: &mut Hash, v: Value| match func.constant(v) {
        Some(constant) => hash.text(&format!("{constant:?}")),
        None => hash.number(numbers.get(&v).copied().unwrap_or(0)),
    };
    for &b in &func.layout {
        hash.text("block");
        for i in func.block_insts(b) {
            let data = &func.insts[i];
            hash.text(data.op.name());
            match &data.op {
                Op::ICmp(pred) => hash.text(&format!("{pred:?}")),
                Op::FCmp(pred) => hash.text(&format!("{pred:?}")),
                Op::Switch(cases) => hash.text(&format!("{cases:?}")),
                Op::Call(info) => hash.text(info.callee.map_or("", |s| &module.symbols[s].name)),
                _ => {}
            }
            data.results.iter().for_each(|&v| hash.text(&format!("{:?}", func.ty(v))));
            data.args.iter().for_each(|&v| value(&mut hash, v));
        }
        for &e in func.out_edges(b) {
            hash.number(places.get(&func.edges[e].to).copied().unwrap_or(u32::MAX));
            func.edges[e].args.iter().for_each(|&v| value(&mut hash, v));
        }
    }
    hash.0
}

/// FNV-1a, which is the same everywhere and forever.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    fn number(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpline_ir::text::{parse_module, print_module};

    const CODE: &str = "module \"m\"

func @f(%x: i32, %n: i32) -> i32 {
entry:
  %c: i1 = icmp sgt %x, %n
  br %c, more, end(%x)
more:
  %y: i32 = add %x, 1
  br end(%y)
end:
  %r: i32 = phi
  ret %r
}
";

    /// What was counted of the branch in [`CODE`].
    fn counted(module: &Module) -> Profile {
        let edges = vec![Taken { lanes: 3, groups: 2 }, Taken { lanes: 77, groups: 10 }];
        let branch = Branch { line: Some(7), group: 8, came: 10, edges };
        let code = identify(module, module.functions.values().next().expect("a function"));
        let f = FunctionProfile { code, ranges: 2, indices: 80, branches: BTreeMap::from([(0, branch)]) };
        Profile { functions: BTreeMap::from([("f".to_owned(), f)]) }
    }

    #[test]
    fn a_profile_reads_back_as_it_was_written() {
        let profile = counted(&parse_module(CODE).unwrap());
        let text = serde_json::to_string_pretty(&profile.to_json()).unwrap();
        assert_eq!(Profile::parse(&text).unwrap(), profile);
        let none = Profile::default();
        assert_eq!(Profile::parse(&none.to_json().to_string()).unwrap(), none);
    }

    #[test]
    fn counts_become_weights_of_the_edges_and_the_mean_length_of_ranges() {
        let mut module = parse_module(CODE).unwrap();
        let profile = counted(&module);
        assert_eq!(profile.apply(&mut module), [""; 0]);
        let text = print_module(&module);
        let expected = "more weight 3 groups 2 of 10 by 8, end(%x) weight 77 groups 10 of 10 by 8";
        assert!(text.contains(expected), "{text}");
        let func = module.functions.values().next().unwrap();
        assert_eq!(profile.indices(&module, func), Some(40));
    }

    #[test]
    fn counts_that_are_too_large_for_weights_keep_their_proportions() {
        let mut module = parse_module(CODE).unwrap();
        let mut profile = counted(&module);
        let branch = profile.functions.get_mut("f").unwrap().branches.get_mut(&0).unwrap();
        branch.edges[0].lanes = 1;
        branch.edges[1].lanes = u64::MAX;
        assert_eq!(profile.apply(&mut module), [""; 0]);
        let func = module.functions.values().next().unwrap();
        let weights: Vec<Option<u32>> =
            func.out_edges(func.layout[0]).iter().map(|&e| func.weights[e]).collect();
        assert!(weights[0] == Some(1) && weights[1] > Some(u32::MAX / 2), "{weights:?}");
    }

    #[test]
    fn only_what_is_computed_identifies_code() {
        let of = |text: &str| {
            let module = parse_module(text).unwrap();
            identify(&module, module.functions.values().next().unwrap())
        };
        let same = ["%y", "more"].map(|name| of(&CODE.replace(name, &format!("{name}.2"))));
        assert_eq!(same, [of(CODE); 2]);
        assert_eq!(of(&CODE.replace("more,", "more weight 9,")), of(CODE));
        for (old, new) in [("sgt", "slt"), ("add %x, 1", "add %x, 2"), ("add", "sub"), ("end(%x)", "end(%n)")]
        {
            assert_ne!(of(&CODE.replace(old, new)), of(CODE), "{new}");
        }
    }

    #[test]
    fn the_profile_of_other_code_is_ignored_and_named() {
        let profile = counted(&parse_module(CODE).unwrap());
        let mut changed = parse_module(&CODE.replace("sgt", "slt")).unwrap();
        let before = print_module(&changed);
        let ignored = profile.apply(&mut changed);
        assert!(matches!(&ignored[..], [only] if only.contains("`f` belongs to other code")), "{ignored:?}");
        assert_eq!(print_module(&changed), before);
        let func = changed.functions.values().next().unwrap();
        assert_eq!(profile.indices(&changed, func), None);
        let mut other = parse_module(&CODE.replace("@f", "@g")).unwrap();
        assert_eq!(profile.apply(&mut other).len(), 1);
    }

    #[test]
    fn a_profile_that_fits_by_its_code_alone_changes_only_branches_that_are_there() {
        let mut module = parse_module(CODE).unwrap();
        let mut profile = counted(&module);
        let branches = &mut profile.functions.get_mut("f").unwrap().branches;
        let branch = branches.remove(&0).unwrap();
        branches.insert(0, Branch { edges: vec![Taken::default(); 3], ..branch.clone() });
        branches.insert(1, branch.clone());
        branches.insert(usize::MAX, branch);
        assert_eq!(profile.apply(&mut module), [""; 0]);
        assert_eq!(print_module(&module), CODE);
    }

    #[test]
    fn what_is_malformed_is_refused_with_its_place() {
        let whole = counted(&parse_module(CODE).unwrap()).to_json().to_string();
        let wrong = [
            ("{", "", "EOF"),
            ("\"warpline_profile\":1", "\"warpline_profile\":2", "is not 1"),
            ("\"warpline_profile\":1", "\"x\":1", "there is no `warpline_profile`"),
            ("\"functions\":[", "\"functions\":{},\"x\":[", "`functions` is no list"),
            ("\"ranges\":2", "\"ranges\":-2", "functions[0]: `ranges` is no number"),
            ("\"code\":\"", "\"code\":\"x", "functions[0]: `code`"),
            ("\"group\":8", "\"group\":0", "functions[0]: branches[0]: `group`"),
            ("\"line\":7", "\"line\":99999999999", "branches[0]: `line`"),
            ("\"lanes\":77", "\"lanes\":\"77\"", "branches[0]: edges[1]: `lanes` is no number"),
        ];
        for (old, new, expected) in wrong {
            let text = if new.is_empty() { old.to_owned() } else { whole.replacen(old, new, 1) };
            let error = Profile::parse(&text).expect_err(new);
            assert!(error.contains(expected), "{error}");
        }
    }
}

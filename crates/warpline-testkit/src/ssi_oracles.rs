//! Whether split live ranges have the static single information property (paper 4, Definition 6), by definition.
//!
//! [`Sources`] says for each variable where information is produced, from a strategy's definition. [`check`] follows
//! the current version of each variable along all paths, as sets at program points, and compares with what the
//! overlay says is read; and it solves two dense problems in each direction that tell all sources apart: one in which
//! a source adds its mark to what passes, and one in which it replaces it. Where the variable is live, all points at
//! which it has the same version must agree. Everything is plain iteration to a fixed point.

use std::collections::{BTreeMap, BTreeSet};

use warpline_analysis::dataflow::{Instruction, Program, TestKind, Variable};
use warpline_analysis::ssi::{Conditions, Point, SplitSet, Ssi, Strategy, Version, VersionDef};
use warpline_analysis::{EdgeId, Graph, Node};

use crate::graph_oracles::reachable;

/// A place in a program where something is known of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Behind the φs of a block.
    Start(Node),
    /// Behind an instruction; what is behind the last one is known at the end of the block too.
    After(Instruction),
    /// On an edge, behind σs and before φs.
    On(EdgeId),
}

/// The places of a program that control reaches, with those from where control comes.
struct Places<'a> {
    program: &'a Program,
    reached: Vec<bool>,
}

impl<'a> Places<'a> {
    fn of(program: &'a Program) -> Self {
        let graph = program.graph();
        Places { program, reached: reachable(graph, graph.entry().index(), |_| false) }
    }

    fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.program.graph().nodes().filter(|n| self.reached[n.index()])
    }

    fn in_edges(&self, node: Node) -> impl Iterator<Item = EdgeId> + '_ {
        let graph = self.program.graph();
        graph.in_edges(node).iter().copied().filter(|&e| self.reached[graph.source(e).index()])
    }

    fn instructions(&self, node: Node) -> impl DoubleEndedIterator<Item = Instruction> + use<> {
        self.program.block(node).map(Instruction)
    }

    /// The place at the end of a block.
    fn end(&self, node: Node) -> Place {
        self.instructions(node).next_back().map_or(Place::Start(node), Place::After)
    }

    /// The place before an instruction.
    fn before(&self, at: Instruction) -> Place {
        let node = self.program.block_of(at);
        let first = self.program.block(node).start;
        if at.0 == first { Place::Start(node) } else { Place::After(Instruction(at.0 - 1)) }
    }

    fn all(&self) -> Vec<Place> {
        let graph = self.program.graph();
        let mut all = Vec::new();
        for n in self.nodes() {
            all.push(Place::Start(n));
            all.extend(self.instructions(n).map(Place::After));
            all.extend(graph.out_edges(n).iter().map(|&e| Place::On(e)));
        }
        all
    }

    fn defined_by_phi(&self, node: Node, v: Variable) -> bool {
        let edge = self.program.graph().in_edges(node).first();
        edge.is_some_and(|&e| self.program.phis(e).iter().any(|p| p.result == v))
    }

    fn read_by_phi(&self, edge: EdgeId, v: Variable) -> bool {
        self.program.phis(edge).iter().any(|p| p.operand == v)
    }

    fn test(&self, node: Node, v: Variable) -> Option<TestKind> {
        self.program.tests(node).iter().find(|t| t.variable == v).map(|t| t.kind)
    }

    /// Where a variable is live: some path from there reads it before it is defined.
    fn live(&self, v: Variable) -> BTreeSet<Place> {
        let graph = self.program.graph();
        let mut live = BTreeSet::new();
        loop {
            let before = live.len();
            for n in self.nodes() {
                for &e in graph.out_edges(n) {
                    if self.read_by_phi(e, v) || live_into(self, &live, graph.target(e), v) {
                        live.insert(Place::On(e));
                    }
                }
                let out = graph.out_edges(n).iter().any(|&e| live.contains(&Place::On(e)));
                if out || self.test(n, v).is_some() {
                    live.insert(self.end(n));
                }
                for at in self.instructions(n) {
                    let passes =
                        live.contains(&Place::After(at)) && !self.program.definitions(at).contains(&v);
                    if self.program.uses(at).contains(&v) || passes {
                        live.insert(self.before(at));
                    }
                }
            }
            if live.len() == before {
                return live;
            }
        }
    }
}

/// Whether what a variable holds on the in-edges of a block is live at its entry.
fn live_into(places: &Places, live: &BTreeSet<Place>, node: Node, v: Variable) -> bool {
    live.contains(&Place::Start(node)) && !places.defined_by_phi(node, v)
}

/// Where information about each variable is produced.
#[derive(Clone, Debug)]
pub struct Sources {
    /// *I↓*
    pub down: Vec<BTreeSet<Point>>,
    /// *I↑*
    pub up: Vec<BTreeSet<Point>>,
    /// Edges on which φs of the program that read the variable pass information back.
    pub operands_up: Vec<BTreeSet<EdgeId>>,
}

impl Sources {
    fn none(program: &Program) -> Self {
        let none = || vec![BTreeSet::new(); program.variables()];
        Sources { down: none(), up: none(), operands_up: vec![BTreeSet::new(); program.variables()] }
    }

    /// What a strategy means.
    pub fn of_strategy(program: &Program, strategy: &Strategy) -> Self {
        let mut sources = Sources::none(program);
        let places = Places::of(program);
        let graph = program.graph();
        for v in split_variables(program) {
            let live = places.live(v);
            let (down, up) = (&mut sources.down[v.index()], &mut sources.up[v.index()]);
            for n in places.nodes() {
                for at in places.instructions(n).filter(|&at| program.uses(at).contains(&v)) {
                    let last = program.definitions(at).contains(&v) || !live.contains(&Place::After(at));
                    if strategy.uses_down {
                        down.insert(Point::At(at));
                    }
                    if strategy.uses_up || strategy.last_uses_up && last {
                        up.insert(Point::At(at));
                    }
                }
                if let Some(kind) = places.test(n, v) {
                    let last = !graph.out_edges(n).iter().any(|&e| live.contains(&Place::On(e)));
                    let asked = |c: Conditions| {
                        c == Conditions::All || c == Conditions::Equalities && kind == TestKind::Equality
                    };
                    if asked(strategy.conditions_down) {
                        down.insert(Point::Out(n));
                    }
                    if asked(strategy.conditions_up) || strategy.last_uses_up && last {
                        up.insert(Point::Out(n));
                    }
                }
                for &e in graph.out_edges(n).iter().filter(|&&e| places.read_by_phi(e, v)) {
                    let last = !live_into(&places, &live, graph.target(e), v);
                    if strategy.uses_up || strategy.last_uses_up && last {
                        sources.operands_up[v.index()].insert(e);
                    }
                }
            }
        }
        sources
    }

    /// Sets of points, by variable. What is said of the entry of the program means nothing.
    pub fn of_points(program: &Program, sets: &[SplitSet]) -> Self {
        let mut sources = Sources::none(program);
        for v in split_variables(program) {
            let entry = Point::In(program.graph().entry());
            let points = |list: &[Point]| list.iter().copied().filter(|&p| p != entry).collect();
            sources.down[v.index()] = points(&sets[v.index()].down);
            sources.up[v.index()] = points(&sets[v.index()].up);
        }
        sources
    }
}

/// The variables that are not constants.
pub fn split_variables(program: &Program) -> impl Iterator<Item = Variable> + '_ {
    (0..program.variables() as u32).map(Variable).filter(|&v| !program.is_fixed(v))
}

/// A version, or that there is none.
type Held = Option<Version>;

/// Checks an overlay: what is read is what holds there, every source is a split, all points of a version agree on what
/// reaches them, live ranges are connected, and nothing was added in vain.
///
/// # Errors
/// Says what is wrong with which variable.
pub fn check(program: &Program, ssi: &Ssi, sources: &Sources) -> Result<(), String> {
    let places = Places::of(program);
    for v in split_variables(program) {
        let judge = Judge::of(&places, ssi, v);
        judge.check_reads()?;
        judge.check_sources(sources)?;
        judge.check_connected()?;
        for replace in [false, true] {
            judge.check_agreement("forward", &judge.forward(sources, replace))?;
            judge.check_agreement("backward", &judge.backward(sources, replace))?;
        }
    }
    check_cleaned(program, ssi)
}

/// Checks that an overlay means the program, and that at each fork where two live edges lead to different next uses
/// there is a σ: what static single information form promises without splits at uses.
///
/// # Errors
/// Says what is wrong with which variable.
pub fn check_ssi_form(program: &Program, ssi: &Ssi) -> Result<(), String> {
    let places = Places::of(program);
    check_cleaned(program, ssi)?;
    let strategy = Strategy { uses_up: true, ..Strategy::SSI };
    let mut sources = Sources::of_strategy(program, &strategy);
    for v in split_variables(program) {
        let judge = Judge::of(&places, ssi, v);
        for n in places.nodes().filter(|&n| places.test(n, v).is_some()) {
            sources.up[v.index()].insert(Point::Out(n));
        }
        judge.check_reads()?;
        judge.check_connected()?;
        let next = judge.backward(&sources, true);
        for n in places.nodes() {
            let out = program.graph().out_edges(n);
            let marks: BTreeSet<_> = out.iter().filter_map(|&e| next.get(&Place::On(e))).collect();
            let has_sigma = out.iter().any(|&e| judge.sigma(e).is_some());
            let has_value = out.iter().any(|&e| judge.has_value(Place::On(e)));
            if marks.len() > 1 && has_value && !has_sigma {
                return Err(format!("{v:?} is used differently behind {n} without a σ"));
            }
        }
    }
    Ok(())
}

/// Every added version reads, over however many others, something that the program defines, and is read by it.
fn check_cleaned(program: &Program, ssi: &Ssi) -> Result<(), String> {
    let all = || (0..ssi.versions() as u32).map(Version);
    let added = |v: Version| ssi.definition(v) != VersionDef::Actual;
    let mut defined: Vec<bool> = all().map(|v| !added(v)).collect();
    let mut used = vec![false; ssi.versions()];
    let slots = |n: usize, of: &dyn Fn(usize) -> Held| (0..n).filter_map(of).collect::<Vec<_>>();
    let instructions = || (0..program.instructions() as u32).map(Instruction);
    let edges = || program.graph().edges();
    let nodes = || program.graph().nodes();
    let mut read = slots(instructions().map(|i| program.uses(i).len()).sum(), &|s| ssi.used(s));
    read.extend(slots(edges().map(|e| program.phis(e).len()).sum(), &|s| ssi.phi_operand(s)));
    read.extend(slots(nodes().map(|n| program.tests(n).len()).sum(), &|s| ssi.tested(s)));
    read.iter().for_each(|v| used[v.index()] = true);
    for _ in 0..ssi.versions() {
        for v in all().filter(|&v| added(v)) {
            let operands: Vec<Version> = ssi.operands(v).flatten().collect();
            if operands.iter().any(|o| defined[o.index()]) {
                defined[v.index()] = true;
            }
            if used[v.index()] {
                operands.iter().for_each(|o| used[o.index()] = true);
            }
        }
    }
    match all().find(|&v| added(v) && !(defined[v.index()] && used[v.index()])) {
        Some(v) => Err(format!("{:?} of {:?} was added in vain", ssi.definition(v), ssi.variable(v))),
        None => Ok(()),
    }
}

/// What is looked at for one variable.
struct Judge<'a> {
    places: &'a Places<'a>,
    program: &'a Program,
    ssi: &'a Ssi,
    v: Variable,
    live: BTreeSet<Place>,
    /// At each place the versions that paths bring there.
    held: BTreeMap<Place, BTreeSet<Held>>,
}

/// A mark for each source of information.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mark {
    Entry,
    Point(Point),
    Edge(Point, EdgeId),
    Operand(EdgeId),
    Defined(Point),
}

type Marks = BTreeMap<Place, BTreeSet<Mark>>;

impl<'a> Judge<'a> {
    fn of(places: &'a Places<'a>, ssi: &'a Ssi, v: Variable) -> Self {
        let mut judge =
            Judge { places, program: places.program, ssi, v, live: places.live(v), held: BTreeMap::new() };
        judge.follow();
        judge
    }

    fn of_variable(&self, versions: &[Version]) -> Held {
        versions.iter().copied().find(|&x| self.ssi.variable(x) == self.v)
    }

    fn sigma(&self, edge: EdgeId) -> Held {
        self.of_variable(self.ssi.sigmas_at(edge))
    }

    fn phi(&self, node: Node) -> Held {
        self.of_variable(self.ssi.phis_at(node))
    }

    fn copy(&self, at: Instruction) -> Held {
        self.of_variable(self.ssi.copies_at(at))
    }

    /// What an instruction of the program calls what it defines.
    fn defined_at(&self, at: Instruction) -> Held {
        let k = self.program.definitions(at).iter().position(|&d| d == self.v)?;
        Some(self.ssi.defined(self.program.definition_slots(at).start + k))
    }

    /// What a φ of the program calls what it defines.
    fn defined_by_phi(&self, node: Node) -> Held {
        let &e = self.program.graph().in_edges(node).first()?;
        let k = self.program.phis(e).iter().position(|p| p.result == self.v)?;
        Some(self.ssi.phi_result(self.program.phi_slots(e).start + k))
    }

    fn on_entry(&self) -> bool {
        self.program.on_entry().contains(&self.v)
    }

    fn held(&self, place: Place) -> BTreeSet<Held> {
        self.held.get(&place).cloned().unwrap_or_default()
    }

    /// Follows all paths.
    fn follow(&mut self) {
        let graph = self.program.graph();
        loop {
            let before: usize = self.held.values().map(BTreeSet::len).sum();
            for n in self.places.nodes() {
                let mut at_start: BTreeSet<Held> = BTreeSet::new();
                if n == graph.entry() {
                    at_start.insert(self.on_entry().then_some(Version(self.v.0)));
                }
                for e in self.places.in_edges(n) {
                    at_start.extend(self.held(Place::On(e)));
                }
                if let Some(new) = self.phi(n).or(self.defined_by_phi(n))
                    && !at_start.is_empty()
                {
                    at_start = BTreeSet::from([Some(new)]);
                }
                self.held.entry(Place::Start(n)).or_default().extend(at_start);
                for at in self.places.instructions(n) {
                    let passed = self.held(self.places.before(at));
                    let new = match self.copy(at).or(self.defined_at(at)) {
                        Some(new) if !passed.is_empty() => BTreeSet::from([Some(new)]),
                        _ => passed,
                    };
                    self.held.entry(Place::After(at)).or_default().extend(new);
                }
                for &e in graph.out_edges(n) {
                    let passed = self.held(self.places.end(n));
                    let new = match self.sigma(e) {
                        Some(new) if !passed.is_empty() => BTreeSet::from([Some(new)]),
                        _ => passed,
                    };
                    self.held.entry(Place::On(e)).or_default().extend(new);
                }
            }
            if before == self.held.values().map(BTreeSet::len).sum() {
                return;
            }
        }
    }

    /// Compares what is said to be read at a place with what paths bring there. A variable that is not split may be
    /// undefined on some paths.
    fn read(&self, what: &str, place: Place, said: Held) -> Result<(), String> {
        let held = self.held(place);
        let plain = Some(Version(self.v.0));
        let right = if self.ssi.is_split(self.v) {
            held == BTreeSet::from([said])
        } else {
            said == plain && held.iter().all(|&h| h.is_none() || h == plain)
                || said.is_none() && held == BTreeSet::from([None])
        };
        if right {
            return Ok(());
        }
        Err(format!("{what} reads {said:?} of {:?}, where paths bring {held:?}", self.v))
    }

    fn operand(&self, version: Version) -> Held {
        self.ssi.operands(version).next().flatten()
    }

    fn check_reads(&self) -> Result<(), String> {
        let (program, ssi, v) = (self.program, self.ssi, self.v);
        let graph = program.graph();
        for n in self.places.nodes() {
            if let Some(phi) = self.phi(n) {
                if self.defined_by_phi(n).is_some() {
                    return Err(format!("{v:?} has two φs at {n}"));
                }
                for (&e, said) in graph.in_edges(n).iter().zip(ssi.operands(phi)) {
                    if self.places.reached[graph.source(e).index()] {
                        self.read(&format!("the φ at {n}"), Place::On(e), said)?;
                    }
                }
            }
            for at in self.places.instructions(n) {
                let before = self.places.before(at);
                for (&used, slot) in program.uses(at).iter().zip(program.use_slots(at)) {
                    if used == v {
                        self.read(&format!("{at:?}"), before, ssi.used(slot))?;
                    }
                }
                if let Some(copy) = self.copy(at) {
                    if self.defined_at(at).is_some() {
                        return Err(format!("{at:?} defines and copies {v:?}"));
                    }
                    self.read(&format!("the copy at {at:?}"), before, self.operand(copy))?;
                }
            }
            for (test, slot) in program.tests(n).iter().zip(program.test_slots(n)) {
                if test.variable == v {
                    self.read(&format!("the test at {n}"), self.places.end(n), ssi.tested(slot))?;
                }
            }
            for &e in graph.out_edges(n) {
                if let Some(sigma) = self.sigma(e) {
                    self.read(&format!("the σ on {e}"), self.places.end(n), self.operand(sigma))?;
                }
                for (phi, slot) in program.phis(e).iter().zip(program.phi_slots(e)) {
                    if phi.operand == v {
                        self.read(&format!("a φ behind {e}"), Place::On(e), ssi.phi_operand(slot))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether a version is live at a place and control can bring one there.
    fn has_value(&self, place: Place) -> bool {
        self.live.contains(&place) && self.held(place).iter().any(Option::is_some)
    }

    /// Splits stand at every source where the variable is live behind it ([SPLIT-DEF]).
    fn check_sources(&self, sources: &Sources) -> Result<(), String> {
        let graph = self.program.graph();
        let missing = |what: String| Err(format!("{:?} is not split at {what}", self.v));
        let index = self.v.index();
        let behind_operands = sources.operands_up[index].iter().map(|&e| Point::In(graph.target(e)));
        for point in sources.up[index].iter().chain(&sources.down[index]).copied().chain(behind_operands) {
            let is_split = match point {
                Point::In(n) => {
                    !self.has_value(Place::Start(n)) || self.phi(n).or(self.defined_by_phi(n)).is_some()
                }
                Point::At(at) => {
                    !self.has_value(Place::After(at)) || self.copy(at).or(self.defined_at(at)).is_some()
                }
                Point::Out(n) => {
                    let mut live = graph.out_edges(n).iter().filter(|&&e| self.has_value(Place::On(e)));
                    live.all(|&e| self.sigma(e).is_some())
                }
            };
            if !is_split {
                return missing(format!("{point:?}"));
            }
        }
        Ok(())
    }

    /// What each place at which the variable is live learns from before. A source replaces what passes or adds to it.
    fn forward(&self, sources: &Sources, replace: bool) -> Marks {
        let graph = self.program.graph();
        let down = &sources.down[self.v.index()];
        let mark = |point: Point, mark: Mark, passed: BTreeSet<Mark>| -> BTreeSet<Mark> {
            match down.contains(&point) {
                true if replace => BTreeSet::from([mark]),
                true => passed.into_iter().chain([mark]).collect(),
                false => passed,
            }
        };
        self.solve(|marks, place| match place {
            Place::Start(n) => {
                if self.defined_by_phi(n).is_some() {
                    return BTreeSet::from([Mark::Defined(Point::In(n))]);
                }
                let mut passed = BTreeSet::new();
                if n == graph.entry() && self.on_entry() {
                    passed.insert(Mark::Entry);
                }
                self.places.in_edges(n).for_each(|e| passed.extend(at(marks, Place::On(e))));
                mark(Point::In(n), Mark::Point(Point::In(n)), passed)
            }
            Place::After(i) if self.defined_at(i).is_some() => BTreeSet::from([Mark::Defined(Point::At(i))]),
            Place::After(i) => {
                let passed = at(marks, self.places.before(i));
                mark(Point::At(i), Mark::Point(Point::At(i)), passed)
            }
            Place::On(e) => {
                let n = graph.source(e);
                mark(Point::Out(n), Mark::Edge(Point::Out(n), e), at(marks, self.places.end(n)))
            }
        })
    }

    /// What each place at which the variable is live learns from behind.
    fn backward(&self, sources: &Sources, replace: bool) -> Marks {
        let graph = self.program.graph();
        let up = &sources.up[self.v.index()];
        let add = |is: bool, mark: Mark, passed: BTreeSet<Mark>| -> BTreeSet<Mark> {
            match is {
                true if replace => BTreeSet::from([mark]),
                true => passed.into_iter().chain([mark]).collect(),
                false => passed,
            }
        };
        let before = |marks: &Marks, i: Instruction| {
            let passed =
                if self.defined_at(i).is_some() { BTreeSet::new() } else { at(marks, Place::After(i)) };
            add(up.contains(&Point::At(i)), Mark::Point(Point::At(i)), passed)
        };
        let exit = |marks: &Marks, n: Node| -> BTreeSet<Mark> {
            let edges = graph.out_edges(n).iter().filter(|&&e| self.live.contains(&Place::On(e)));
            let is = up.contains(&Point::Out(n));
            let all = edges.flat_map(|&e| add(is, Mark::Edge(Point::Out(n), e), at(marks, Place::On(e))));
            let mut all: BTreeSet<Mark> = all.collect();
            if is && all.is_empty() {
                all.insert(Mark::Point(Point::Out(n)));
            }
            all
        };
        self.solve(|marks, place| match place {
            Place::Start(n) => match self.places.instructions(n).next() {
                Some(first) => before(marks, first),
                None => exit(marks, n),
            },
            Place::After(i) => {
                let node = self.program.block_of(i);
                match self.places.instructions(node).find(|&next| next > i) {
                    Some(next) => before(marks, next),
                    None => exit(marks, node),
                }
            }
            Place::On(e) => {
                let n = graph.target(e);
                let passed = if live_into(self.places, &self.live, n, self.v) {
                    let behind = at(marks, Place::Start(n));
                    add(up.contains(&Point::In(n)), Mark::Edge(Point::In(n), e), behind)
                } else {
                    BTreeSet::new()
                };
                add(sources.operands_up[self.v.index()].contains(&e), Mark::Operand(e), passed)
            }
        })
    }

    /// The least solution: marks at the places where the variable is live.
    fn solve(&self, transfer: impl Fn(&Marks, Place) -> BTreeSet<Mark>) -> Marks {
        let places: Vec<Place> = self.places.all().into_iter().filter(|p| self.live.contains(p)).collect();
        let mut marks: Marks = places.iter().map(|&p| (p, BTreeSet::new())).collect();
        loop {
            let mut changed = false;
            for &place in &places {
                let new = transfer(&marks, place);
                changed |= marks[&place] != new;
                marks.insert(place, new);
            }
            if !changed {
                return marks;
            }
        }
    }

    /// All places with the same version agree.
    fn check_agreement(&self, direction: &str, marks: &Marks) -> Result<(), String> {
        let mut of_version: BTreeMap<Version, (Place, &BTreeSet<Mark>)> = BTreeMap::new();
        for (&place, found) in marks {
            for version in self.held(place).into_iter().flatten() {
                let (first, expected) = *of_version.entry(version).or_insert((place, found));
                if expected != found {
                    return Err(format!(
                        "{version:?} of {:?} learns ({direction}) {expected:?} at {first:?} and {found:?} at {place:?}",
                        self.v
                    ));
                }
            }
        }
        Ok(())
    }

    /// The places where a version is live hang together ([VERSION]), and no two versions are live at one (Lemma 3).
    fn check_connected(&self) -> Result<(), String> {
        let mut of_version: BTreeMap<Held, BTreeSet<Place>> = BTreeMap::new();
        for &place in &self.live {
            let held = self.held(place);
            if self.ssi.is_split(self.v) && held.len() > 1 {
                return Err(format!("{held:?} of {:?} are live at {place:?}", self.v));
            }
            held.into_iter().for_each(|h| _ = of_version.entry(h).or_default().insert(place));
        }
        for (version, places) in of_version.into_iter().filter(|(v, _)| v.is_some()) {
            let mut rest = places.clone();
            let mut work: Vec<Place> = rest.pop_first().into_iter().collect();
            while let Some(place) = work.pop() {
                let near: Vec<Place> = rest
                    .iter()
                    .copied()
                    .filter(|&p| self.follows(place, p) || self.follows(p, place))
                    .collect();
                near.iter().for_each(|p| _ = rest.remove(p));
                work.extend(near);
            }
            if !rest.is_empty() && self.ssi.is_split(self.v) {
                return Err(format!("{version:?} of {:?} is live in parts: {places:?}", self.v));
            }
        }
        Ok(())
    }

    /// Whether control comes from one place directly to another.
    fn follows(&self, from: Place, to: Place) -> bool {
        let graph = self.program.graph();
        match to {
            Place::Start(n) => matches!(from, Place::On(e) if graph.target(e) == n),
            Place::After(i) => from == self.places.before(i),
            Place::On(e) => from == self.places.end(graph.source(e)),
        }
    }
}

fn at(marks: &Marks, place: Place) -> BTreeSet<Mark> {
    marks.get(&place).cloned().unwrap_or_default()
}

//! The functions of a module, which its copies share.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use cranelift_entity::PrimaryMap;

use super::entities::FuncId;
use super::function::Function;

/// The functions of a module that have a body. A copy shares them until one of the two changes its own, so that many
/// copies of a module with many functions take little.
#[derive(Clone, Default, Debug)]
pub struct Functions(PrimaryMap<FuncId, Arc<Function>>);

impl Functions {
    /// Adds a function.
    pub fn push(&mut self, func: Function) -> FuncId {
        self.0.push(Arc::new(func))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All, with their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (FuncId, &Function)> + ExactSizeIterator {
        self.0.iter().map(|(id, func)| (id, &**func))
    }

    /// The numbers of all.
    pub fn keys(&self) -> cranelift_entity::Keys<FuncId> {
        self.0.keys()
    }

    /// All.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &Function> + ExactSizeIterator {
        self.0.values().map(|func| &**func)
    }

    /// All, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Function> {
        self.0.values_mut().map(Arc::make_mut)
    }

    /// A function, if there is one of this number.
    pub fn get(&self, id: FuncId) -> Option<&Function> {
        self.0.get(id).map(|func| &**func)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Of the functions behind the first `count`, keeps only those that are wanted; these get new numbers.
    pub fn keep_behind(&mut self, count: usize, is_wanted: impl Fn(&Function) -> bool) {
        let all = std::mem::take(&mut self.0);
        let kept = all.into_iter().filter(|(id, func)| (id.as_u32() as usize) < count || is_wanted(func));
        self.0 = kept.map(|(_, func)| func).collect();
    }
}

impl Index<FuncId> for Functions {
    type Output = Function;

    fn index(&self, id: FuncId) -> &Function {
        &self.0[id]
    }
}

impl IndexMut<FuncId> for Functions {
    fn index_mut(&mut self, id: FuncId) -> &mut Function {
        Arc::make_mut(&mut self.0[id])
    }
}

impl<'a> IntoIterator for &'a Functions {
    type Item = (FuncId, &'a Function);
    type IntoIter = Box<dyn Iterator<Item = (FuncId, &'a Function)> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl IntoIterator for Functions {
    type Item = (FuncId, Function);
    type IntoIter = Box<dyn Iterator<Item = (FuncId, Function)>>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.0.into_iter().map(|(id, func)| (id, Arc::unwrap_or_clone(func))))
    }
}

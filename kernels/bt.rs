//! Search in a binary tree, one element per lane (Moll and Hack: Partial Control-Flow Linearization, PLDI 2018, Sec.
//! 7.1, `bt`).
//!
//! The stack of nodes to visit is the same for all lanes: a subtree is visited if *any* lane that is still searching
//! wants to. So the branches that push children are uniform, as is the one that ends the loop when the stack is
//! empty; whether the node is the one that is searched, and the lane leaves the loop, differs from lane to lane.
//! Lanes whose elements are near each other go down together for long.
//!
//! It differs from the paper's Fig. 1 in that a lane wants something only of nodes on its own way. There, two lanes
//! with elements far apart want both children of every node between them, whose number is not that of the nodes on
//! their ways, but of all elements between theirs.
//!
//! More lanes do not help: among 262,144 random elements one lane visits 23 nodes, and neighbours in sorted batches
//! of 4,096 visit together 72 if they are 8, 128 if they are 16, and 461 if they are 64, so that going together saves
//! at most the factors 2.6, 2.9 and 3.2. Unsorted, these are 1.2, 1.3 and 1.5. So the kernel has 8 lanes, for which
//! each step is short.

use warpline_lanes::warpline_any;

/// More than the depth of a tree of random elements, which is a few times the logarithm of their number.
const STACK: usize = 128;

//@ args _i=index, element=varying
//@ width 8

/// Returns the node whose label is `element`, or −1.
///
/// Node `k` has the label `labels[k]` and the children `children[2 * k]`, with lower labels, and
/// `children[2 * k + 1]`, with higher ones; 0 for none. The root is node 0.
///
/// # Safety
/// The arrays have that many elements, and the tree is less than `STACK` nodes deep.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bt(_i: i32, element: f32, labels: *const f32, children: *const i32) -> i32 {
    let mut stack = [0i32; STACK];
    let mut top = 1;
    let mut wanted = 0;
    let mut result = -1;
    while top > 0 {
        top -= 1;
        unsafe {
            let node = *stack.get_unchecked(top);
            let label = *labels.offset(node as isize);
            let left = *children.offset(2 * node as isize);
            let right = *children.offset(2 * node as isize + 1);
            let here = node == wanted;
            if here & (label == element) {
                result = node;
                break;
            }
            let (lower, higher) = (here & (element < label), here & (element > label));
            if warpline_any(lower) && left > 0 {
                *stack.get_unchecked_mut(top) = left;
                top += 1;
            }
            if warpline_any(higher) && right > 0 {
                *stack.get_unchecked_mut(top) = right;
                top += 1;
            }
            let next = if element < label { left } else { right };
            wanted = if here { next } else { wanted };
        }
    }
    result
}

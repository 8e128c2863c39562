//! From the roles that a VRM file declares to nodes of the skeleton.

use super::nodes::NodeTree;
use crate::model::Humanoid;
use crate::model::import::error::Warnings;
use crate::model::import::file::DeclaredRoles;

pub fn read(roles: Option<&DeclaredRoles>, tree: &NodeTree, warnings: &mut Warnings) -> Option<Box<Humanoid>> {
    let DeclaredRoles { source, nodes } = roles?;
    let mut humanoid = Humanoid::new(*source);
    for (role, node, at) in nodes {
        let count = tree.skeleton_node.len();
        match tree.skeleton_node.get(*node) {
            None => warnings
                .add(at, format_args!("nodes[{node}] does not exist; the file has {count}; the role is left out")),
            Some(None) => warnings.add(at, format_args!("nodes[{node}] is neither in the scene nor a joint; ignored")),
            Some(Some(node)) if humanoid.nodes.contains(&Some(*node)) => {
                warnings.add(at, "the node already has a role; ignored");
            }
            Some(&node) => humanoid.nodes[role.index()] = node,
        }
    }
    if !humanoid.is_whole() {
        warnings.add(format_args!("extensions.{source}.humanoid"), "a role is missing that every humanoid has");
    }
    Some(Box::new(humanoid))
}

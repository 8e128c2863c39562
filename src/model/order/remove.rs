//! A model without some of its primitives, as if its file had never had them.

use std::collections::HashSet;

use super::{inverse, number_by_use, reorder};
use crate::model::bones::bones;
use crate::model::{Material, Model};

impl Model {
    /// Removes the source primitives whose flag is set, before there are levels of detail. Vertices that nothing else draws
    /// come last. Joints of skins and textures of materials that nothing else uses are removed too.
    pub fn remove(&mut self, removed: &[bool]) {
        let Self { skeleton, skins, palette, bones: shown_bones, geometry, materials, .. } = self;
        let mut is_kept = vec![true; geometry.indices.len()];
        let flags = || removed.iter().copied();
        for (source, _) in geometry.source_primitives.iter().zip(flags()).filter(|(_, is_removed)| *is_removed) {
            is_kept[source.indices.start as usize..source.indices.end as usize].fill(false);
        }
        let mut count = 0;
        let counts = is_kept.iter().map(|&is_kept| {
            count += u32::from(is_kept);
            count
        });
        let kept_before: Vec<u32> = std::iter::once(0).chain(counts).collect();
        let new = |index: u32| kept_before[index as usize];
        geometry.draw_ranges.retain_mut(|range| {
            let end = new(range.first_index + range.index_count);
            range.first_index = new(range.first_index);
            range.index_count = end - range.first_index;
            range.index_count > 0
        });
        let mut each = flags();
        geometry.source_primitives.retain_mut(|source| {
            source.indices = new(source.indices.start)..new(source.indices.end);
            !each.next().unwrap_or_default()
        });
        let mut each = is_kept.iter();
        geometry.indices.retain(|_| each.next().copied().unwrap_or(true));
        number_by_use(geometry);

        let skins = geometry.source_primitives.iter().filter_map(|source| skins.get(source.skin? as usize));
        let joints: HashSet<u32> = skins.flat_map(|skin| &skin.joints).copied().collect();
        let entries = palette.is_joint.iter().zip(&palette.nodes);
        let mut is_used: Vec<bool> = entries.map(|(&is_joint, node)| is_joint && joints.contains(node)).collect();
        let end = geometry.influence_starts[geometry.drawn_vertex_count()] as usize;
        geometry.influences[..end].iter().for_each(|influence| is_used[influence.joint as usize] = true);
        let order: Vec<u32> = (0..).zip(&is_used).filter(|(_, is_used)| **is_used).map(|(entry, _)| entry).collect();
        // Vertices that nothing draws may follow any entry.
        let new_index = inverse(&order, palette.len());
        geometry.influences.iter_mut().for_each(|influence| influence.joint = new_index[influence.joint as usize]);
        reorder(&mut palette.nodes, &order);
        reorder(&mut palette.joint_from_mesh, &order);
        reorder(&mut palette.is_joint, &order);
        *shown_bones = bones(skeleton, palette, geometry);

        let mut is_used = vec![false; materials.len()];
        geometry.draw_ranges.iter().for_each(|range| is_used[range.material as usize] = true);
        for (material, _) in materials.iter_mut().zip(is_used).filter(|(_, is_used)| !is_used) {
            *material = Material { name: std::mem::take(&mut material.name), ..Material::default() };
        }
    }
}

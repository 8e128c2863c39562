//! The invariants of a model whose violation would be an index out of range.

use super::{DrawRange, Material, Model, NO_PARENT, Skeleton};

impl Model {
    /// Returns the model if all arrays that refer to each other fit together.
    ///
    /// # Errors
    /// Says which invariant does not hold.
    pub fn checked(self) -> Result<Self, &'static str> {
        let Self { skeleton, palette, geometry, materials, images, clips, .. } = &self;
        let Skeleton { parents, rest, names, source_nodes, in_scene, fixed_locals, .. } = skeleton;
        let below = |index: u32, count: usize| (index as usize) < count;
        let (nodes, vertices) = (skeleton.len(), geometry.vertex_count());
        let are_starts = |starts: &[u32], values: usize| {
            starts.len() == vertices + 1 && starts.is_sorted() && starts.last() == Some(&(values as u32))
        };
        let mut end = 0;
        let follows = |range: &DrawRange| {
            let first = std::mem::replace(&mut end, range.first_index.saturating_add(range.index_count));
            range.first_index == first && below(range.material, materials.len())
        };
        let check = |holds: bool, invariant: &'static str| holds.then_some(()).ok_or(invariant);
        let are_sorted = parents.iter().zip(0..).all(|(&parent, node)| parent == NO_PARENT || parent < node);
        check(are_sorted, "nodes come after their parents")?;
        let of_rest = [rest.translations.len(), rest.rotations.len(), rest.scales.len()];
        let are_long = [of_rest, [names.len(), source_nodes.len(), in_scene.len()]] == [[nodes; 3]; 2];
        let are_nodes = fixed_locals.iter().all(|fixed| below(fixed.node, nodes));
        check(are_long && are_nodes, "the arrays of nodes are equally long")?;
        let follow = palette.nodes.iter().all(|&node| below(node, nodes))
            && [palette.joint_from_mesh.len(), palette.is_joint.len()] == [palette.len(); 2];
        check(follow, "palette entries follow nodes")?;
        let are_long = [geometry.normals.len(), geometry.tex_coords.len(), geometry.colors.len()] == [vertices; 3]
            && [0, vertices].contains(&geometry.tangents.len());
        check(are_long, "the arrays of vertices are equally long")?;
        let belong = are_starts(&geometry.influence_starts, geometry.influences.len())
            && geometry.influences.iter().all(|influence| below(influence.joint, palette.len()));
        check(belong, "influences belong to vertices and palette entries")?;
        let belong = are_starts(&geometry.morph_delta_starts, geometry.morph_deltas.len())
            && geometry.morph_deltas.iter().all(|delta| below(delta.weight_index, rest.morph_weights.len()));
        check(belong, "morph deltas belong to vertices and weights")?;
        let partition = geometry.draw_ranges.iter().all(follows)
            && end as usize == geometry.indices.len()
            && geometry.indices.iter().all(|&index| below(index, vertices));
        check(partition, "draw ranges have materials and partition the indices of vertices")?;
        let are_named = skeleton.morph_names.len() == rest.morph_weights.len()
            && skeleton.held_morphs.iter().all(|(index, _)| below(*index, rest.morph_weights.len()));
        check(are_named, "morph weights have names")?;
        let mut textures = materials.iter().flat_map(Material::textures);
        check(textures.all(|slot| below(slot.texture.image, images.len())), "textures have images")?;
        let have_times = clips.iter().all(|clip| {
            let has_times = |timeline: u32| below(timeline, clip.timelines.len());
            clip.node_tracks().all(|track| below(track.node, nodes) && has_times(track.timeline))
                && clip.morph_weights.iter().all(|track| has_times(track.timeline))
        });
        check(have_times, "tracks have nodes and timelines")?;
        Ok(self)
    }
}

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
        let mut textures = materials.iter().flat_map(Material::textures);
        let invariants = [
            (
                "nodes come after their parents",
                parents.iter().zip(0..).all(|(&parent, node)| parent == NO_PARENT || parent < node),
            ),
            (
                "the arrays of nodes are equally long",
                [
                    rest.translations.len(),
                    rest.rotations.len(),
                    rest.scales.len(),
                    names.len(),
                    source_nodes.len(),
                    in_scene.len(),
                ] == [nodes; 6]
                    && fixed_locals.iter().all(|fixed| below(fixed.node, nodes)),
            ),
            (
                "palette entries follow nodes",
                palette.nodes.iter().all(|&node| below(node, nodes))
                    && [palette.joint_from_mesh.len(), palette.is_joint.len()] == [palette.len(); 2],
            ),
            (
                "the arrays of vertices are equally long",
                [geometry.normals.len(), geometry.tex_coords.len(), geometry.colors.len()] == [vertices; 3]
                    && [0, vertices].contains(&geometry.tangents.len()),
            ),
            (
                "influences belong to vertices and palette entries",
                are_starts(&geometry.influence_starts, geometry.influences.len())
                    && geometry.influences.iter().all(|influence| below(influence.joint, palette.len())),
            ),
            (
                "morph deltas belong to vertices and weights",
                are_starts(&geometry.morph_delta_starts, geometry.morph_deltas.len())
                    && geometry.morph_deltas.iter().all(|delta| below(delta.weight_index, rest.morph_weights.len())),
            ),
            (
                "draw ranges have materials and partition the indices of vertices",
                geometry.draw_ranges.iter().all(follows)
                    && end as usize == geometry.indices.len()
                    && geometry.indices.iter().all(|&index| below(index, vertices)),
            ),
            (
                "morph weights have names",
                skeleton.morph_names.len() == rest.morph_weights.len()
                    && skeleton.held_morphs.iter().all(|(index, _)| below(*index, rest.morph_weights.len())),
            ),
            ("textures have images", textures.all(|slot| below(slot.texture.image, images.len()))),
            (
                "tracks have nodes and timelines",
                clips.iter().all(|clip| {
                    let has_times = |timeline: u32| below(timeline, clip.timelines.len());
                    clip.node_tracks().all(|track| below(track.node, nodes) && has_times(track.timeline))
                        && clip.morph_weights.iter().all(|track| has_times(track.timeline))
                }),
            ),
        ];
        match invariants.iter().find(|(_, holds)| !holds) {
            Some((invariant, _)) => Err(invariant),
            None => Ok(self),
        }
    }
}

//! Where each visible instance's skinned vertices go: pages, batches, offsets. Pure arithmetic, no Vulkan.
//!
//! The transient vertex buffer is made of pages, because one binding can be no larger than `maxStorageBufferRange`
//! (128 MiB on some drivers). An instance never straddles pages, and models follow each other without gaps. A *batch*
//! is a run of instances of one model in one page: one dispatch and one draw per material.

use crate::shader_types::SkinnedVertex;
use crate::vulkan::{Error, Result};

/// What the plan needs to know of a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelSize {
    /// Vertices that one instance takes in a page.
    pub vertex_count: u32,
    /// Its vertices have tangents.
    pub has_tangents: bool,
}

/// Bytes of one vertex's tangent, packed.
pub const TANGENT_BYTES: u64 = size_of::<u32>() as u64;

impl ModelSize {
    /// Bytes that `skin.comp` writes for one instance.
    #[must_use]
    pub fn skinned_bytes(self) -> u64 {
        let tangent_bytes = if self.has_tangents { TANGENT_BYTES } else { 0 };
        u64::from(self.vertex_count) * (size_of::<SkinnedVertex>() as u64 + tangent_bytes)
    }
}

/// Instances of one model that share a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// Index of the model.
    pub model: u32,
    /// Index of the page.
    pub page: u32,
    /// First element of the instance buffer.
    pub first_instance: u32,
    /// Number of elements, at least 1.
    pub instance_count: u32,
    /// First vertex of the first instance within the page.
    pub first_vertex: u32,
}

/// Limits that the plan keeps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Of one page.
    pub page_bytes: u64,
    /// Of one batch: `maxComputeWorkGroupCount[1]`.
    pub instances_per_batch: u32,
}

/// The plan of one frame; rebuilt in place each frame without allocating, once it has grown.
#[derive(Debug, Default)]
pub struct FramePlan {
    /// In the order of models, then instances.
    pub batches: Vec<Batch>,
    /// Vertices used in each page.
    pub page_vertices: Vec<u32>,
    /// Whether the vertices of each page have tangents: if those of one instance in it do, there is room for all.
    pub page_tangents: Vec<bool>,
    /// All visible instances.
    pub instance_count: u32,
    vertex_counts: Vec<u32>,
    first_batches: Vec<u32>,
    first_instances: Vec<u32>,
}

impl FramePlan {
    /// Lays out `counts[m]` instances of each model `m`.
    ///
    /// # Errors
    /// One instance of a model does not fit into a page, or there are more than 2^32 instances.
    pub fn rebuild(&mut self, models: &[ModelSize], counts: &[u32], limits: PlanLimits) -> Result<()> {
        let page_capacity = u32::try_from(limits.page_bytes / size_of::<SkinnedVertex>() as u64).unwrap_or(u32::MAX);
        self.batches.clear();
        self.page_vertices.clear();
        self.page_tangents.clear();
        self.vertex_counts.clear();
        self.first_batches.clear();
        self.first_instances.clear();
        self.instance_count = 0;
        for (model, (size, &count)) in models.iter().zip(counts).enumerate() {
            self.vertex_counts.push(size.vertex_count);
            self.first_batches.push(self.batches.len() as u32);
            self.first_instances.push(self.instance_count);
            if size.vertex_count > page_capacity {
                return Err(Error::OverLimit {
                    what: format!("one instance of model {model} ({} vertices)", size.vertex_count),
                    size_bytes: u64::from(size.vertex_count) * size_of::<SkinnedVertex>() as u64,
                    limit: "maxStorageBufferRange",
                    limit_bytes: limits.page_bytes,
                    advice: "use a model with fewer vertices, or --skinning vertex".to_owned(),
                });
            }
            self.place(model as u32, *size, count, page_capacity, limits.instances_per_batch);
            self.instance_count = self.instance_count.checked_add(count).ok_or_else(|| Error::OverLimit {
                what: "the crowd".to_owned(),
                size_bytes: u64::MAX,
                limit: "number of instances",
                limit_bytes: u64::from(u32::MAX),
                advice: "use fewer --instances".to_owned(),
            })?;
        }
        Ok(())
    }

    fn place(&mut self, model: u32, size: ModelSize, count: u32, page_capacity: u32, most_per_batch: u32) {
        let vertex_count = size.vertex_count.max(1);
        let mut placed = 0;
        while placed < count {
            let page = match self.page_vertices.last() {
                Some(&used) if page_capacity - used >= vertex_count => self.page_vertices.len() - 1,
                _ => {
                    self.page_vertices.push(0);
                    self.page_tangents.push(false);
                    self.page_vertices.len() - 1
                }
            };
            let first_vertex = self.page_vertices[page];
            let instance_count =
                ((page_capacity - first_vertex) / vertex_count).min(count - placed).min(most_per_batch.max(1));
            self.batches.push(Batch {
                model,
                page: page as u32,
                first_instance: self.instance_count.saturating_add(placed),
                instance_count,
                first_vertex,
            });
            self.page_vertices[page] += instance_count * vertex_count;
            self.page_tangents[page] |= size.has_tangents;
            placed += instance_count;
        }
    }

    /// First vertex, within its page, of the `k`-th visible instance of a model. 0 for what is not in the plan.
    #[must_use]
    pub fn skinned_vertex_offset(&self, model: usize, k: u32) -> u32 {
        let place = |batch: &Batch| {
            let vertex_count = self.vertex_counts.get(model).copied().unwrap_or(0);
            let instance = self.first_instances.get(model).copied().unwrap_or(0) + k;
            batch.first_vertex + (instance - batch.first_instance) * vertex_count
        };
        self.batch_of(model, k).map_or(0, place)
    }

    /// The batch that holds the `k`-th visible instance of a model.
    #[must_use]
    pub fn batch_of(&self, model: usize, k: u32) -> Option<&Batch> {
        let instance = self.first_instances.get(model)?.checked_add(k)?;
        let first = *self.first_batches.get(model)? as usize;
        let end = self.first_batches.get(model + 1).map_or(self.batches.len(), |&next| next as usize);
        let batches = self.batches.get(first..end)?;
        let batch = batches.get(batches.partition_point(|batch| batch.first_instance <= instance).checked_sub(1)?)?;
        (instance - batch.first_instance < batch.instance_count).then_some(batch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTEX_BYTES: u64 = size_of::<SkinnedVertex>() as u64;

    #[test]
    fn every_instance_has_its_own_vertices_within_a_page() {
        let models = [(7, false), (30, true), (1, false)]
            .map(|(vertex_count, has_tangents)| ModelSize { vertex_count, has_tangents });
        for page_vertices in [30, 31, 64, 100, 1_000_000] {
            for instances_per_batch in [1, 3, 65_535] {
                let limits = PlanLimits { page_bytes: page_vertices * VERTEX_BYTES, instances_per_batch };
                let mut plan = FramePlan::default();
                let counts = [20, 5, 13];
                plan.rebuild(&models, &counts, limits).unwrap();
                assert_eq!(plan.instance_count, 38);
                let mut taken = std::collections::HashSet::new();
                for (model, &count) in counts.iter().enumerate() {
                    for k in 0..count {
                        let offset = plan.skinned_vertex_offset(model, k);
                        let page = plan.batch_of(model, k).unwrap().page;
                        assert!(plan.page_tangents[page as usize] || !models[model].has_tangents);
                        for vertex in offset..offset + models[model].vertex_count {
                            assert!(u64::from(vertex) < page_vertices);
                            assert!(vertex < plan.page_vertices[page as usize]);
                            assert!(taken.insert((page, vertex)), "{model} {k} overlaps");
                        }
                    }
                }
                assert_eq!(taken.len(), 20 * 7 + 5 * 30 + 13);
                assert_eq!(plan.page_tangents.len(), plan.page_vertices.len());
                assert!(page_vertices > 64 || !plan.page_tangents[0], "a page of the first model alone");
                assert!(plan.batches.iter().all(|batch| (1..=instances_per_batch).contains(&batch.instance_count)));
                let total: u32 = plan.batches.iter().map(|batch| batch.instance_count).sum();
                assert_eq!(total, 38);
            }
        }
    }

    #[test]
    fn a_model_larger_than_a_page_is_refused_with_the_numbers() {
        let limits = PlanLimits { page_bytes: 10 * VERTEX_BYTES, instances_per_batch: 10 };
        let error = FramePlan::default()
            .rebuild(&[ModelSize { vertex_count: 11, has_tangents: false }], &[1], limits)
            .unwrap_err();
        assert!(error.to_string().contains("(11 vertices) takes 176 bytes"), "{error}");
    }
}

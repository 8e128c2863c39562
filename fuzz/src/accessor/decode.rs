//! The second decoder's elements of a case, and whether the specification allows the case.

use super::case::{Case, MAX_COUNT, SparsePart, View};
use super::gltf::fixed_bytes;
use super::layout::Component;

impl Case {
    /// Returns all elements, or `None` if one of them is outside its view or the buffer.
    pub fn decode(&self) -> Option<Vec<Vec<f64>>> {
        if self.count > MAX_COUNT {
            return None;
        }
        let offsets = self.shape.offsets(self.component);
        let element_at = |at: u128, view: &View| -> Option<Vec<f64>> {
            let read = |offset: &u128| self.component.read(&self.buffer, at + offset, view.end(), self.normalized);
            offsets.iter().map(read).collect()
        };
        let mut elements = Vec::new();
        for k in 0..u128::from(self.count) {
            elements.push(match &self.view {
                Some(view) => element_at(view.first() + k * self.stride(), view)?,
                None => vec![0.0; offsets.len()],
            });
        }
        if let Some(SparsePart { count, index_component, indices, values }) = &self.sparse {
            for k in 0..u128::from(*count) {
                let at = indices.first() + k * index_component.size();
                let index = index_component.read(&self.buffer, at, indices.end(), false)?;
                let value = element_at(values.first() + k * self.shape.packed_bytes(self.component), values)?;
                *elements.get_mut(index as usize)? = value;
            }
        }
        Some(elements)
    }

    /// Whether types, alignment, strides and the order of sparse indices follow the specification. `decode` checks
    /// bounds.
    pub fn is_valid(&self) -> bool {
        // A view that starts in the fixed arrays may have overwritten their last bytes.
        if !self.buffer.starts_with(fixed_bytes()) {
            return false;
        }
        let size = self.component.size() as u64;
        let whole =
            |view: &View| view.offset.saturating_add(view.length) <= self.buffer.len() as u64 && view.length > 0;
        let aligned = |view: &View, size: u64| {
            view.inner_offset.is_multiple_of(size) && view.offset.wrapping_add(view.inner_offset).is_multiple_of(size)
        };
        let packed = self.shape.packed_bytes(self.component) as u64;
        let good_stride = |stride: u64| (4..=252).contains(&stride) && stride.is_multiple_of(4) && stride >= packed;
        let sparse_is_valid = |sparse: &SparsePart| {
            let increasing = self.sparse_indices(sparse).is_some_and(|list| list.is_sorted_by(|a, b| a < b));
            let integer = matches!(sparse.index_component, Component::U8 | Component::U16 | Component::U32);
            let views_are_valid = whole(&sparse.indices)
                && whole(&sparse.values)
                && aligned(&sparse.indices, sparse.index_component.size() as u64)
                && aligned(&sparse.values, size);
            (1..=self.count).contains(&sparse.count) && increasing && integer && views_are_valid
        };
        self.count > 0
            && self.buffer.len().is_multiple_of(4)
            && self.role.allows(self.shape, self.component, self.normalized)
            && self.view.as_ref().is_none_or(|view| whole(view) && aligned(view, size))
            && self.view.and_then(|view| view.stride).is_none_or(good_stride)
            && self.sparse.as_ref().is_none_or(sparse_is_valid)
    }

    fn sparse_indices(&self, sparse: &SparsePart) -> Option<Vec<f64>> {
        let view = &sparse.indices;
        let read = |k: u64| {
            let at = view.first() + u128::from(k) * sparse.index_component.size();
            sparse.index_component.read(&self.buffer, at, view.end(), false)
        };
        (0..sparse.count.min(MAX_COUNT + 1)).map(read).collect()
    }
}

//! A case: an accessor, the bytes that it refers to, and its role in the model.

use arbitrary::{Result, Unstructured};

use super::gltf;
use super::layout::{Component, Shape};

/// The largest number of vertices, keys or matrices that the rest of the model supports.
pub const MAX_COUNT: u64 = 24;
/// The largest size of a buffer, more than the largest valid case needs.
const MAX_BUFFER_BYTES: u64 = 1 << 13;
/// The number of joints of the skin.
pub const JOINT_COUNT: usize = 8;

/// The use of the accessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Position,
    Normal,
    Color,
    Joints,
    Weights,
    Indices,
    InverseBinds,
    KeyTimes,
    Translation,
    Rotation,
    /// The values of a CUBICSPLINE sampler: three for each key.
    Spline,
    /// The positions of a morph target.
    MorphTarget,
    /// The values of a sampler that animates one morph weight.
    MorphWeights,
}

impl Role {
    const ALL: [Self; 13] = [
        Self::Position,
        Self::Normal,
        Self::Color,
        Self::Joints,
        Self::Weights,
        Self::Indices,
        Self::InverseBinds,
        Self::KeyTimes,
        Self::Translation,
        Self::Rotation,
        Self::Spline,
        Self::MorphTarget,
        Self::MorphWeights,
    ];

    /// Whether the specification, extended by KHR_mesh_quantization, allows the combination.
    pub fn allows(self, shape: Shape, component: Component, normalized: bool) -> bool {
        use Component::{F32, I8, I16, U8, U16, U32};
        use Shape::{Mat4, Scalar, Vec3, Vec4};
        let float = component == F32 && !normalized;
        let unsigned = !normalized && matches!(component, U8 | U16);
        let unorm = normalized && matches!(component, U8 | U16);
        let snorm = normalized && matches!(component, I8 | I16);
        let any = component != U32 && !(normalized && component == F32);
        match self {
            Self::Position | Self::MorphTarget => shape == Vec3 && any,
            Self::Normal => shape == Vec3 && (float || snorm),
            Self::Color => matches!(shape, Vec3 | Vec4) && (float || unorm),
            Self::Joints => shape == Vec4 && unsigned,
            Self::Weights => shape == Vec4 && (float || unorm),
            Self::Indices => shape == Scalar && (unsigned || (component == U32 && !normalized)),
            Self::InverseBinds => shape == Mat4 && float,
            Self::KeyTimes => shape == Scalar && float,
            Self::Translation | Self::Spline => shape == Vec3 && float,
            Self::Rotation => shape == Vec4 && (float || unorm || snorm),
            Self::MorphWeights => shape == Scalar && (float || unorm || snorm),
        }
    }
}

/// A part of the buffer.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub offset: u64,
    pub length: u64,
    pub stride: Option<u64>,
    /// The offset of the accessor or sparse part from the start of the view.
    pub inner_offset: u64,
}

impl View {
    /// Returns the offset of the accessor or sparse part in the buffer.
    pub fn first(&self) -> u128 {
        u128::from(self.offset) + u128::from(self.inner_offset)
    }

    /// Returns the end of the view in the buffer.
    pub fn end(&self) -> u128 {
        u128::from(self.offset) + u128::from(self.length)
    }
}

/// The sparse part: elements that are replaced.
#[derive(Debug)]
pub struct SparsePart {
    pub count: u64,
    pub index_component: Component,
    pub indices: View,
    pub values: View,
}

/// A complete case.
#[derive(Debug)]
pub struct Case {
    pub role: Role,
    pub shape: Shape,
    pub component: Component,
    pub normalized: bool,
    pub count: u64,
    pub view: Option<View>,
    pub sparse: Option<SparsePart>,
    /// The buffer. It starts with the fixed data of the model, so that the accessor is near the end.
    pub buffer: Vec<u8>,
}

impl Case {
    /// Makes a case from the fuzzer's bytes.
    pub fn take(bytes: &mut Unstructured) -> Result<Self> {
        let role = *bytes.choose(&Role::ALL)?;
        let (shape, component, normalized) = take_type(bytes, role)?;
        let count = match bytes.int_in_range(0..=31)? {
            0 => *bytes.choose(&[u64::MAX, (1 << 20) + 1, 1 << 31, 1 << 32, 1 << 61, u64::MAX / 12])?,
            _ => bytes.int_in_range(0..=MAX_COUNT)?,
        };
        let mut end = gltf::fixed_bytes().len() as u64;
        let packed = shape.packed_bytes(component) as u64;
        let view = match bytes.ratio(7, 8)? {
            true => Some(take_view(bytes, &mut end, count, packed, component.size() as u64)?),
            false => None,
        };
        let sparse = match bytes.ratio(1, 3)? {
            true => Some(take_sparse(bytes, &mut end, count, packed, component.size() as u64)?),
            false => None,
        };
        let mut case = Self { role, shape, component, normalized, count, view, sparse, buffer: Vec::new() };
        case.fill(bytes, end)?;
        Ok(case)
    }

    /// Fills the buffer, mostly to the size that is needed, with numbers that the role can mostly use.
    fn fill(&mut self, bytes: &mut Unstructured, end: u64) -> Result<()> {
        let length = end.saturating_add_signed(take_delta(bytes)?);
        let indices_step: u8 = bytes.int_in_range(1..=3)?;
        let numbers = bytes.int_in_range(0..=3)?;
        let pattern: Vec<u8> = (0..16).map(|_| bytes.arbitrary()).collect::<Result<_>>()?;
        self.buffer = gltf::fixed_bytes().to_vec();
        let fixed = self.buffer.len();
        self.buffer.extend((fixed..length as usize).map(|at| pattern[at % 16].wrapping_add((at / 16) as u8)));
        if numbers > 0 {
            for (rank, at) in self.component_offsets().into_iter().enumerate() {
                let number = match numbers {
                    // Sparse indices increase, and stay below the number of vertices and joints.
                    1 => rank as f32,
                    2 => (rank % JOINT_COUNT) as f32,
                    _ => f32::from(pattern[rank % 16]) / 255.0,
                };
                put(&mut self.buffer, at, &self.component.encode(number));
            }
        }
        if let Some(SparsePart { count, index_component, indices, .. }) = &self.sparse {
            for k in 0..(*count).min(64) {
                let at = indices.first() + u128::from(k) * index_component.size();
                put(&mut self.buffer, at, &index_component.encode((k * u64::from(indices_step)) as f32));
            }
        }
        Ok(())
    }

    /// Returns the offsets of the components of the first elements, in order; sparse values come last.
    fn component_offsets(&self) -> Vec<u128> {
        let offsets = self.shape.offsets(self.component);
        let in_view = |view: &View, stride: u128, count: u64| {
            let first = view.first();
            let elements = (0..u128::from(count.min(MAX_COUNT))).map(move |k| first + k * stride);
            elements.flat_map(|element| offsets.iter().map(move |offset| element + offset)).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        if let Some(view) = &self.view {
            found.extend(in_view(view, self.stride(), self.count));
        }
        if let Some(sparse) = &self.sparse {
            found.extend(in_view(&sparse.values, self.shape.packed_bytes(self.component), sparse.count));
        }
        found
    }

    /// Returns the distance between elements outside the sparse part.
    pub fn stride(&self) -> u128 {
        let packed = self.shape.packed_bytes(self.component);
        // A stride of 0 is read as none.
        self.view.and_then(|view| view.stride).filter(|stride| *stride > 0).map_or(packed, u128::from)
    }
}

/// Chooses a type; in seven of eight cases, one that the role allows.
fn take_type(bytes: &mut Unstructured, role: Role) -> Result<(Shape, Component, bool)> {
    let all = Shape::ALL.iter().flat_map(|&shape| Component::ALL.map(|component| (shape, component)));
    let all: Vec<(Shape, Component, bool)> =
        all.flat_map(|(shape, component)| [false, true].map(|normalized| (shape, component, normalized))).collect();
    if bytes.ratio(1, 8)? {
        return bytes.choose(&all).copied();
    }
    let allowed: Vec<_> = all.into_iter().filter(|&(shape, component, n)| role.allows(shape, component, n)).collect();
    bytes.choose(&allowed).copied()
}

/// Chooses zero, mostly, or a small number that moves an end to just before, at or just behind a boundary.
fn take_delta(bytes: &mut Unstructured) -> Result<i64> {
    bytes.choose(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 1, -2, 2, -4, 4]).copied()
}

/// Chooses a view that starts near `end`, which is moved, with roughly the length that is needed.
fn take_view(bytes: &mut Unstructured, end: &mut u64, count: u64, packed: u64, size: u64) -> Result<View> {
    let stride = match bytes.int_in_range(0..=7)? {
        0 => Some(bytes.int_in_range(0..=260)?),
        1 | 2 => Some(packed.next_multiple_of(4) + 4 * bytes.int_in_range(0..=3)?),
        _ => None,
    };
    let inner_offset = match bytes.int_in_range(0..=15)? {
        0 => *bytes.choose(&[u64::MAX, u64::MAX - 3, 1 << 32, 1 << 63, 17])?,
        1..=5 => size * bytes.int_in_range(0..=4)?,
        _ => 0,
    };
    let offset = match bytes.int_in_range(0..=31)? {
        0 => *bytes.choose(&[u64::MAX, u64::MAX - 15, 1 << 32, 1 << 63])?,
        _ => end.next_multiple_of(4).saturating_add_signed(take_delta(bytes)?),
    };
    let needed = count.saturating_sub(1).saturating_mul(stride.unwrap_or(packed)).saturating_add(packed);
    let needed = if count == 0 { 0 } else { needed.saturating_add(inner_offset) };
    let length = match bytes.int_in_range(0..=31)? {
        0 => *bytes.choose(&[0, u64::MAX, 1 << 32, 3])?,
        _ => needed.saturating_add_signed(take_delta(bytes)?),
    };
    // A view of an impossible size does not enlarge the buffer.
    if let Some(end_of_view) = offset.checked_add(length).filter(|end| *end <= MAX_BUFFER_BYTES) {
        *end = end_of_view.max(*end);
    }
    Ok(View { offset, length, stride, inner_offset })
}

fn take_sparse(
    bytes: &mut Unstructured,
    end: &mut u64,
    element_count: u64,
    packed: u64,
    size: u64,
) -> Result<SparsePart> {
    let count = match bytes.int_in_range(0..=15)? {
        0 => *bytes.choose(&[0, u64::MAX, element_count.saturating_add(1), 1 << 32])?,
        _ => bytes.int_in_range(1..=element_count.clamp(1, 8))?,
    };
    let index_component = match bytes.ratio(1, 16)? {
        true => *bytes.choose(&Component::ALL)?,
        false => *bytes.choose(&[Component::U8, Component::U16, Component::U32])?,
    };
    let index_bytes = index_component.size() as u64;
    // Sparse parts ignore byteStride (3.6.2.3): the elements are packed.
    let mut indices = take_view(bytes, end, count, index_bytes, index_bytes)?;
    let mut values = take_view(bytes, end, count, packed, size)?;
    (indices.stride, values.stride) = (None, None);
    Ok(SparsePart { count, index_component, indices, values })
}

fn put(buffer: &mut [u8], at: u128, bytes: &[u8]) {
    for (k, &byte) in bytes.iter().enumerate() {
        let target = usize::try_from(at + k as u128).ok().and_then(|at| buffer.get_mut(at));
        if let Some(target) = target {
            *target = byte;
        }
    }
}

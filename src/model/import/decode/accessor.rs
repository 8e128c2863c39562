//! From an accessor to plain arrays of `f32` or `u32`.
//!
//! [`Accessor::open`] checks that every element is inside the bytes of its view. After that, reading cannot run out of bounds.
//!
//! Source: glTF 2.0, 3.6.2 (alignment, stride, sparse storage, zeros without a buffer view), and 3.6.2.2 with 3.11
//! (normalised integers).

use std::fmt::Display;

use gltf::json::accessor::{ComponentType, Type, sparse};
use gltf::json::validation::Checked;

use super::document::{Document, slice};
use crate::model::import::error::{Fault, Result, look_up};
use crate::model::import::limits::{Counted, MAX_ELEMENTS_WITHOUT_DATA};

/// An accessor whose bounds have been checked.
#[derive(Debug)]
pub struct Accessor<'d> {
    /// The reference to it and its index, for messages: `skins[0].inverseBindMatrices (accessors[12])`.
    pub at: String,
    pub count: usize,
    /// The element type, SCALAR to MAT4.
    pub shape: Type,
    pub component_type: ComponentType,
    /// Whether integers represent 0..1 or -1..1.
    pub normalized: bool,
    layout: Layout,
    /// The stored elements; `None` means zeros.
    elements: Option<Strided<'d>>,
    sparse: Option<Sparse<'d>>,
}

/// The arrangement of the components of one element. Columns of matrices start at multiples of four bytes (3.6.2.4).
#[derive(Debug, Clone, Copy)]
struct Layout {
    component_bytes: usize,
    rows: usize,
    column_bytes: usize,
    element_bytes: usize,
    /// The distance between elements if the view has no byteStride.
    packed_bytes: usize,
}

/// Elements at a fixed distance. `bytes` starts at the first one.
#[derive(Debug)]
struct Strided<'d> {
    bytes: &'d [u8],
    stride_bytes: usize,
}

/// Replacements of single elements: element `indices[k]` becomes `values[k]`.
#[derive(Debug)]
struct Sparse<'d> {
    indices: Strided<'d>,
    values: Strided<'d>,
}

impl<'d> Accessor<'d> {
    /// Looks up accessor `index` and checks its bounds. `at` is the JSON path of the reference to it.
    pub fn open(document: &'d Document, index: usize, at: impl Display) -> Result<Self> {
        let entry = look_up(&document.root.accessors, "accessors", index, &at)?;
        let at = format!("{at} (accessors[{index}])");
        let Checked::Valid(shape) = entry.type_ else { return Err(Fault::content(at, "unknown type")) };
        let Checked::Valid(component) = entry.component_type else {
            return Err(Fault::content(at, "unknown componentType"));
        };
        let component_type = component.0;
        let decoded = document.decoded_accessor(index)?;
        if entry.normalized && matches!(component_type, ComponentType::F32 | ComponentType::U32) {
            return Err(Fault::content(at, "normalized, which only 8-bit and 16-bit integers can be"));
        }
        // The type in the Draco stream counts, which may differ from the accessor's.
        let component_type = decoded.map_or(component_type, |decoded| decoded.component_type);
        let layout = Layout::new(shape, component_type);
        let count = entry.count.0;
        let elements = match entry.buffer_view {
            _ if let Some(decoded) = decoded => Some(Strided::new(&decoded.bytes, None, 0, count, layout, &at)?),
            Some(view) => {
                let (bytes, stride) = document.view(view.value(), &at)?;
                Some(Strided::new(bytes, stride, entry.byte_offset.unwrap_or_default().0, count, layout, &at)?)
            }
            None if count > MAX_ELEMENTS_WITHOUT_DATA => {
                let problem = format!("{count} elements without a bufferView; at most {MAX_ELEMENTS_WITHOUT_DATA}");
                return Err(Fault::unsupported(at, problem));
            }
            None => None,
        };
        let sparse = match &entry.sparse {
            Some(sparse) if decoded.is_none() => Some(Sparse::new(document, sparse, count, layout, &at)?),
            _ => None,
        };
        // The bytes of the view or the limit above bound the count.
        let count = usize::try_from(count).map_err(|_| Fault::unsupported(&at, "too many elements"))?;
        Ok(Self { at, count, shape, component_type, normalized: entry.normalized, layout, elements, sparse })
    }

    /// Returns all elements as numbers. Normalised integers become 0..1 or -1..1, others keep their value.
    pub fn floats<const N: usize>(&self) -> Result<Vec<[f32; N]>> {
        self.first_floats(self.count)
    }

    /// Returns the first `limit` elements, like [`Accessor::floats`].
    pub fn first_floats<const N: usize>(&self, limit: usize) -> Result<Vec<[f32; N]>> {
        self.expect_shape(N)?;
        let scaled = |value: f32, one: f32| if self.normalized { (value / one).max(-1.0) } else { value };
        Ok(match self.component_type {
            ComponentType::F32 => self.read(limit, f32::from_le_bytes),
            ComponentType::U32 => self.read(limit, |bytes| u32::from_le_bytes(bytes) as f32),
            ComponentType::I8 => self.read(limit, |bytes| scaled(f32::from(i8::from_le_bytes(bytes)), 127.0)),
            ComponentType::U8 => self.read(limit, |bytes| scaled(f32::from(u8::from_le_bytes(bytes)), 255.0)),
            ComponentType::I16 => self.read(limit, |bytes| scaled(f32::from(i16::from_le_bytes(bytes)), 32_767.0)),
            ComponentType::U16 => self.read(limit, |bytes| scaled(f32::from(u16::from_le_bytes(bytes)), 65_535.0)),
        })
    }

    /// Returns all elements like [`Accessor::floats`], which must be finite. `what` names an element in the error.
    pub fn finite_floats<const N: usize>(&self, what: &str) -> Result<Vec<[f32; N]>> {
        let elements = self.floats::<N>()?;
        match elements.iter().position(|element| !element.iter().all(|number| number.is_finite())) {
            Some(index) => Err(Fault::content(&self.at, format_args!("{what} {index} is not finite"))),
            None => Ok(elements),
        }
    }

    /// Returns all elements as unsigned integers, for indices and joints.
    pub fn unsigned<const N: usize>(&self) -> Result<Vec<[u32; N]>> {
        self.expect_shape(N)?;
        match (self.component_type, self.normalized) {
            (ComponentType::U8, false) => Ok(self.read(self.count, |bytes| u8::from_le_bytes(bytes).into())),
            (ComponentType::U16, false) => Ok(self.read(self.count, |bytes| u16::from_le_bytes(bytes).into())),
            (ComponentType::U32, _) => Ok(self.read(self.count, u32::from_le_bytes)),
            _ => Err(Fault::content(&self.at, "expected unsigned integers that are not normalized")),
        }
    }

    fn expect_shape(&self, components: usize) -> Result<()> {
        let vectors = [Type::Scalar, Type::Vec2, Type::Vec3, Type::Vec4];
        let expected = vectors.get(components - 1).copied().unwrap_or(Type::Mat4);
        if self.shape == expected {
            return Ok(());
        }
        Err(Fault::content(&self.at, format_args!("{:?} elements, expected {expected:?}", self.shape)))
    }

    /// Reads the first `limit` elements. `decode` converts the `B` bytes of each of their `N` components.
    fn read<T: Copy + Default, const N: usize, const B: usize>(
        &self,
        limit: usize,
        decode: impl Fn([u8; B]) -> T,
    ) -> Vec<[T; N]> {
        let count = self.count.min(limit);
        let Layout { component_bytes, rows, column_bytes, .. } = self.layout;
        let offset_bytes = |component: usize| component / rows * column_bytes + component % rows * component_bytes;
        let offsets: [usize; N] = std::array::from_fn(offset_bytes);
        let element_of = |bytes: &[u8]| {
            // The bounds have been checked, so every component exists.
            let component = |offset: usize| bytes.get(offset..).and_then(|rest| rest.first_chunk::<B>());
            offsets.map(|offset| component(offset).map_or_else(T::default, |bytes| decode(*bytes)))
        };
        let mut elements: Vec<[T; N]> = match &self.elements {
            Some(strided) => strided.elements().take(count).map(element_of).collect(),
            None => vec![[T::default(); N]; count],
        };
        for (index, value) in self.sparse.iter().flat_map(Sparse::entries) {
            match elements.get_mut(index) {
                Some(element) => *element = element_of(value),
                // Indices increase, so all further ones are beyond `limit` too.
                None => break,
            }
        }
        elements
    }
}

impl Layout {
    fn new(shape: Type, component_type: ComponentType) -> Self {
        let columns = match shape {
            Type::Scalar | Type::Vec2 | Type::Vec3 | Type::Vec4 => 1,
            Type::Mat2 => 2,
            Type::Mat3 => 3,
            Type::Mat4 => 4,
        };
        let rows = shape.multiplicity() / columns;
        let component_bytes = component_type.size();
        let used_bytes = rows * component_bytes;
        let column_bytes = if columns > 1 { used_bytes.next_multiple_of(4) } else { used_bytes };
        let element_bytes = column_bytes * (columns - 1) + used_bytes;
        Self { component_bytes, rows, column_bytes, element_bytes, packed_bytes: column_bytes * columns }
    }
}

impl<'d> Strided<'d> {
    fn new(view: &'d [u8], stride: Option<usize>, offset: u64, count: u64, layout: Layout, at: &str) -> Result<Self> {
        let stride_bytes = stride.unwrap_or(layout.packed_bytes);
        if stride_bytes < layout.element_bytes {
            let problem = format!("byteStride {stride_bytes} is less than one element of {}", layout.element_bytes);
            return Err(Fault::content(at, problem));
        }
        let Some(last) = count.checked_sub(1) else { return Ok(Self { bytes: &[], stride_bytes }) };
        let length =
            last.checked_mul(stride_bytes as u64).and_then(|bytes| bytes.checked_add(layout.element_bytes as u64));
        let bytes = length.and_then(|length| slice(view, offset, length)).ok_or_else(|| {
            let problem = format!(
                "{count} elements of {} bytes every {stride_bytes} from byte {offset} do not fit in its bufferView of {} \
                 bytes",
                layout.element_bytes,
                view.len()
            );
            Fault::content(at, problem)
        })?;
        Ok(Self { bytes, stride_bytes })
    }

    /// Returns the bytes of each element, with those up to the next one. The last element may be shorter than the stride.
    fn elements(&self) -> impl Iterator<Item = &'d [u8]> {
        self.bytes.chunks(self.stride_bytes)
    }
}

impl<'d> Sparse<'d> {
    fn new(
        document: &'d Document,
        entry: &sparse::Sparse,
        element_count: u64,
        layout: Layout,
        at: &str,
    ) -> Result<Self> {
        let count = entry.count.0;
        if count > element_count {
            return Err(Fault::content(at, format_args!("sparse.count {count} of {element_count} elements")));
        }
        document.budget.take(Counted::SPARSE_ENTRIES, count, document.files.bytes_read(), at)?;
        let Checked::Valid(index_type) = entry.indices.component_type else {
            return Err(Fault::content(at, "sparse.indices.componentType is not an unsigned integer"));
        };
        let part = |name: &str, view: usize, offset: u64, layout: Layout| {
            let at = format!("{at}.sparse.{name}");
            Strided::new(document.view(view, &at)?.0, None, offset, count, layout, &at)
        };
        let (indices, values) = (&entry.indices, &entry.values);
        let index_layout = Layout::new(Type::Scalar, index_type.0);
        let sparse = Self {
            indices: part("indices", indices.buffer_view.value(), indices.byte_offset.0, index_layout)?,
            values: part("values", values.buffer_view.value(), values.byte_offset.0, layout)?,
        };
        let mut previous = None;
        for (index, _) in sparse.entries() {
            if index as u64 >= element_count || previous.is_some_and(|p| p >= index) {
                let problem =
                    format!("sparse index {index} is out of range or order; there are {element_count} elements");
                return Err(Fault::content(at, problem));
            }
            previous = Some(index);
        }
        Ok(sparse)
    }

    fn entries(&self) -> impl Iterator<Item = (usize, &'d [u8])> {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
        self.indices.elements().map(number).zip(self.values.elements())
    }
}

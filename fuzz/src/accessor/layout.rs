//! The second decoder: the offset of each component of an accessor (glTF 2.0, 3.6.2.4), and its number.

/// glTF's component types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    pub const ALL: [Self; 6] = [Self::I8, Self::U8, Self::I16, Self::U16, Self::U32, Self::F32];

    pub fn code(self) -> u32 {
        match self {
            Self::I8 => 5120,
            Self::U8 => 5121,
            Self::I16 => 5122,
            Self::U16 => 5123,
            Self::U32 => 5125,
            Self::F32 => 5126,
        }
    }

    pub fn size(self) -> u128 {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Returns the divisor of normalised integers.
    fn one(self) -> f64 {
        match self {
            Self::I8 => 127.0,
            Self::U8 => 255.0,
            Self::I16 => 32_767.0,
            Self::U16 => 65_535.0,
            Self::U32 | Self::F32 => 1.0,
        }
    }

    /// Returns the number at offset `at`, if it lies in `bytes` before `end`.
    pub fn read(self, bytes: &[u8], at: u128, end: u128, normalized: bool) -> Option<f64> {
        let mut bits = 0_u32;
        for k in 0..self.size() {
            let index = at + k;
            if index >= end {
                return None;
            }
            let byte = *bytes.get(usize::try_from(index).ok()?)?;
            bits += u32::from(byte) << (8 * k);
        }
        let number = match self {
            Self::I8 => f64::from(bits as i8),
            Self::I16 => f64::from(bits as i16),
            Self::U8 | Self::U16 | Self::U32 => f64::from(bits),
            Self::F32 => f64::from(f32::from_bits(bits)),
        };
        Some(if normalized { (number / self.one()).max(-1.0) } else { number })
    }

    /// Returns the bytes of a small number.
    pub fn encode(self, number: f32) -> Vec<u8> {
        match self {
            Self::I8 => vec![number as i8 as u8],
            Self::U8 => vec![number as u8],
            Self::I16 => (number as i16).to_le_bytes().to_vec(),
            Self::U16 => (number as u16).to_le_bytes().to_vec(),
            Self::U32 => (number as u32).to_le_bytes().to_vec(),
            Self::F32 => number.to_le_bytes().to_vec(),
        }
    }
}

/// glTF's element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

impl Shape {
    pub const ALL: [Self; 7] = [Self::Scalar, Self::Vec2, Self::Vec3, Self::Vec4, Self::Mat2, Self::Mat3, Self::Mat4];

    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "SCALAR",
            Self::Vec2 => "VEC2",
            Self::Vec3 => "VEC3",
            Self::Vec4 => "VEC4",
            Self::Mat2 => "MAT2",
            Self::Mat3 => "MAT3",
            Self::Mat4 => "MAT4",
        }
    }

    fn columns_and_rows(self) -> (u128, u128) {
        match self {
            Self::Scalar => (1, 1),
            Self::Vec2 => (1, 2),
            Self::Vec3 => (1, 3),
            Self::Vec4 => (1, 4),
            Self::Mat2 => (2, 2),
            Self::Mat3 => (3, 3),
            Self::Mat4 => (4, 4),
        }
    }

    /// Returns the offset of each component in its element. Columns of matrices start at multiples of four bytes.
    pub fn offsets(self, component: Component) -> Vec<u128> {
        let (columns, rows) = self.columns_and_rows();
        let size = component.size();
        let column_bytes = column_bytes(columns, rows, size);
        (0..columns).flat_map(|column| (0..rows).map(move |row| column * column_bytes + row * size)).collect()
    }

    /// Returns the distance between elements without a byteStride.
    pub fn packed_bytes(self, component: Component) -> u128 {
        let (columns, rows) = self.columns_and_rows();
        columns * column_bytes(columns, rows, component.size())
    }
}

fn column_bytes(columns: u128, rows: u128, size: u128) -> u128 {
    let bytes = rows * size;
    if columns > 1 && !bytes.is_multiple_of(4) { bytes + 4 - bytes % 4 } else { bytes }
}

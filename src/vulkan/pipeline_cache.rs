//! The pipeline cache, kept on disk between runs.
//!
//! Drivers must check the data of a cache, but some crash on damaged data. So the file has a checksum, and its Vulkan header
//! must fit the device before the driver gets a byte. Other files are discarded. A cache that cannot be read or written costs
//! some time at the start and is never an error.

use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::{Context, Result};
use super::spirv::{ShaderOverride, Spirv};

/// The largest file that is read. Caches of a few pipelines are much smaller.
const MAX_BYTES: u64 = 64 << 20;
const CHECKSUM_BYTES: usize = 8;

/// A `VkPipelineCache` and its file. Every pipeline is built with it, so it also has the shaders that replace embedded ones.
pub struct PipelineCache {
    /// The handle.
    pub raw: vk::PipelineCache,
    overrides: Vec<ShaderOverride>,
    file: Option<PathBuf>,
    loaded_bytes: usize,
    device: Arc<Device>,
}

impl PipelineCache {
    /// Loads the cache for this device from `folder`. `None`: the cache has no file.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(device: &Arc<Device>, folder: Option<&Path>) -> Result<Self> {
        let properties = &device.physical.properties;
        let uuid: String = properties.pipeline_cache_uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = folder.map(|folder| {
            folder.join(format!("pipelines-{:x}-{:x}-{uuid}.bin", properties.vendor_id, properties.device_id))
        });
        let data = file.as_deref().and_then(|file| read(file, properties)).unwrap_or_default();
        let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
        // SAFETY: the data are empty, or were written by this driver for this device (checked).
        let raw = unsafe { device.raw.create_pipeline_cache(&info, None) }
            .context_for("vkCreatePipelineCache", "pipeline cache")?;
        device.register(raw, "pipeline cache");
        Ok(Self { raw, overrides: Vec::new(), file, loaded_bytes: data.len(), device: Arc::clone(device) })
    }

    /// Returns the same cache, which builds pipelines from these shaders instead of the embedded ones of the same names.
    #[must_use]
    pub fn with_shaders(mut self, overrides: &[ShaderOverride]) -> Self {
        self.overrides = overrides.to_vec();
        self
    }

    /// Returns the words from which pipelines with this shader are built.
    pub(super) fn words<'a>(&'a self, shader: &'a Spirv) -> &'a [u32] {
        let replaced = self.overrides.iter().find(|other| other.file_name() == shader.file_name);
        replaced.map_or(shader.words, ShaderOverride::words)
    }

    /// Writes the cache to a temporary file and renames it, so that a crash does not damage the old one.
    fn save(&self) -> Option<()> {
        let file = self.file.as_deref()?;
        // SAFETY: the cache is alive.
        let data = unsafe { self.device.raw.get_pipeline_cache_data(self.raw) }.ok()?;
        if data.len() == self.loaded_bytes {
            return Some(());
        }
        std::fs::create_dir_all(file.parent()?).ok()?;
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let mut bytes = checksum(&data).to_le_bytes().to_vec();
        bytes.extend_from_slice(&data);
        let written = std::fs::write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, file));
        if written.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        written.ok()
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        let _ = self.save();
        // SAFETY: no pipeline is being built.
        unsafe { self.device.raw.destroy_pipeline_cache(self.raw, None) };
    }
}

fn checksum(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(data);
    hasher.finish()
}

fn read(file: &Path, properties: &vk::PhysicalDeviceProperties) -> Option<Vec<u8>> {
    let metadata = std::fs::metadata(file).ok()?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return None;
    }
    let mut data = std::fs::read(file).ok()?;
    let sum = u64::from_le_bytes(data.get(..CHECKSUM_BYTES)?.try_into().ok()?);
    data.drain(..CHECKSUM_BYTES);
    (sum == checksum(&data) && header_fits(&data, properties)).then_some(data)
}

/// `VkPipelineCacheHeaderVersionOne`: size, version, vendor, device (four little-endian u32), UUID.
fn header_fits(data: &[u8], properties: &vk::PhysicalDeviceProperties) -> bool {
    let word = |at: usize| data.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    word(0).is_some_and(|size| size >= 32)
        && word(4) == Some(1)
        && word(8) == Some(properties.vendor_id)
        && word(12) == Some(properties.device_id)
        && data.get(16..32) == Some(&properties.pipeline_cache_uuid[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties() -> vk::PhysicalDeviceProperties {
        vk::PhysicalDeviceProperties { vendor_id: 7, device_id: 9, ..Default::default() }
    }

    fn sound_file() -> Vec<u8> {
        let mut data = Vec::new();
        for word in [32u32, 1, 7, 9] {
            data.extend_from_slice(&word.to_le_bytes());
        }
        data.extend_from_slice(&[0; 16]);
        data.extend_from_slice(b"payload");
        let mut file = checksum(&data).to_le_bytes().to_vec();
        file.extend_from_slice(&data);
        file
    }

    #[test]
    fn a_damaged_or_foreign_file_is_discarded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cache.bin");
        let accepted = |bytes: &[u8], properties: &vk::PhysicalDeviceProperties| {
            std::fs::write(&path, bytes).unwrap();
            read(&path, properties).map(|data| data.len())
        };
        assert_eq!(accepted(&sound_file(), &properties()), Some(39));
        assert_eq!(read(&folder.path().join("missing.bin"), &properties()), None);

        for length in 0..sound_file().len() {
            assert_eq!(accepted(&sound_file()[..length], &properties()), None, "cut to {length} bytes");
        }
        for at in 0..sound_file().len() {
            let mut bytes = sound_file();
            bytes[at] ^= 0x10;
            assert_eq!(accepted(&bytes, &properties()), None, "byte {at} flipped");
        }
        let other = vk::PhysicalDeviceProperties { device_id: 10, ..properties() };
        assert_eq!(accepted(&sound_file(), &other), None, "another device's");
    }
}

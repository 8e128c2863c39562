//! The loader, the instance, and the validation layer.
//!
//! Validation means core checks and synchronization validation. The latter includes hazards between submissions, because
//! a race between two frames is one. The layer's version determines how these are requested: see [`layer_settings`].

use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use ash::{ext, khr, vk};

use super::error::{Context, Error, Result};

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The environment variable, and its value, that makes a layer without `VK_EXT_layer_settings` compare submissions. A
/// layer with that extension silently ignores its settings if the variable is set.
const SUBMIT_VARIABLE: (&str, &str) =
    ("VK_LAYER_ENABLES", "VALIDATION_CHECK_ENABLE_SYNCHRONIZATION_VALIDATION_QUEUE_SUBMIT");

/// Sets the environment variable that an older validation layer needs. Call it before the first instance with validation.
///
/// # Safety
/// No other thread accesses the environment at the same time, except through `std::env`.
pub unsafe fn prepare_validation() {
    let (variable, value) = SUBMIT_VARIABLE;
    // Creating the instance reports a missing loader or layer.
    let request = load_entry().and_then(|entry| layer_settings_of_installed(&entry));
    if let Ok(None) = request
        && std::env::var_os(variable).is_none()
    {
        // SAFETY: the caller's promise.
        unsafe { std::env::set_var(variable, value) };
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct InstanceOptions<'a> {
    /// Whether to enable the validation layer. It is an error if the layer is not installed.
    pub validation: bool,
    /// The extensions that the window system needs (`ash_window::enumerate_required_extensions`). Empty if offscreen.
    pub surface_extensions: &'a [*const c_char],
}

#[derive(Debug, Default)]
pub struct ValidationMessages(Mutex<Vec<String>>);

impl ValidationMessages {
    /// Returns a copy of the messages, oldest first.
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The Vulkan instance. It owns the loader and the debug messenger.
pub struct Instance {
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// The messages of the validation layer. There are none without validation.
    pub validation_messages: Arc<ValidationMessages>,
    /// Whether objects can have names and labels.
    pub(super) has_debug_utils: bool,
    /// Whether devices may enable `VK_EXT_swapchain_maintenance1`.
    pub(super) has_surface_maintenance: bool,
    pub raw: ash::Instance,
    pub(super) entry: ash::Entry,
}

impl Instance {
    /// Loads Vulkan and creates an instance.
    ///
    /// # Errors
    /// There is no loader, no driver, or no validation layer if one is requested.
    pub fn new(options: InstanceOptions) -> Result<Arc<Self>> {
        Self::with_entry(load_entry()?, options)
    }

    /// Creates an instance with a loader that the caller has chosen. All Vulkan functions of the program come from it, so
    /// a test can pass one whose functions are its own (`tests/gpu/loader`).
    ///
    /// # Errors
    /// The errors of [`Self::new`], except a missing loader.
    pub fn with_entry(entry: ash::Entry, options: InstanceOptions) -> Result<Arc<Self>> {
        let available = extensions_of(&entry, None)?;
        let has = |name: &CStr| has_extension(&available, name);

        let mut extensions: Vec<*const c_char> = options.surface_extensions.to_vec();
        let mut flags = vk::InstanceCreateFlags::empty();
        if has(khr::portability_enumeration::NAME) {
            // Without this extension the loader does not list MoltenVK.
            extensions.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        // `VK_EXT_swapchain_maintenance1` of a device needs these two.
        let of_surfaces = [khr::get_surface_capabilities2::NAME, ext::surface_maintenance1::NAME];
        let has_surface_maintenance =
            !options.surface_extensions.is_empty() && of_surfaces.iter().all(|name| has(name));
        if has_surface_maintenance {
            extensions.extend(of_surfaces.map(CStr::as_ptr));
        }
        let has_debug_utils = options.validation || has(ext::debug_utils::NAME);
        if has_debug_utils {
            extensions.push(ext::debug_utils::NAME.as_ptr());
        }

        let validation_messages = Arc::new(ValidationMessages::default());
        let mut creation_messenger = messenger_info(&validation_messages);
        let application = vk::ApplicationInfo::default()
            .application_name(c"throng")
            .application_version(1)
            .api_version(vk::API_VERSION_1_3);
        let mut layers: Vec<*const c_char> = Vec::new();
        let mut info = vk::InstanceCreateInfo::default().application_info(&application).flags(flags);

        let enabled_features = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
        let mut validation_features =
            vk::ValidationFeaturesEXT::default().enabled_validation_features(&enabled_features);
        let on = [vk::TRUE];
        let settings: Vec<_>;
        let mut layer_settings;
        if options.validation {
            layers.push(VALIDATION_LAYER.as_ptr());
            info = info.push_next(&mut creation_messenger);
            match layer_settings_of_installed(&entry)? {
                None => {
                    extensions.push(ext::validation_features::NAME.as_ptr());
                    info = info.push_next(&mut validation_features);
                }
                Some(names) => {
                    extensions.push(ext::layer_settings::NAME.as_ptr());
                    settings = names.iter().map(|name| layer_switch(name, &on)).collect();
                    layer_settings = vk::LayerSettingsCreateInfoEXT::default().settings(&settings);
                    info = info.push_next(&mut layer_settings);
                }
            }
        }
        info = info.enabled_extension_names(&extensions).enabled_layer_names(&layers);

        // SAFETY: `info` and everything that it points to live until the call returns.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
            vk::Result::ERROR_LAYER_NOT_PRESENT => Error::MissingValidationLayer,
            result => Error::call("vkCreateInstance", result),
        })?;
        let mut instance =
            Self { messenger: None, validation_messages, has_debug_utils, has_surface_maintenance, raw, entry };
        if options.validation {
            let loader = ext::debug_utils::Instance::new(&instance.entry, &instance.raw);
            let info = messenger_info(&instance.validation_messages);
            // SAFETY: the callback's user data are the `ValidationMessages` that `instance` keeps alive.
            let handle = unsafe { loader.create_debug_utils_messenger(&info, None) }
                .context("vkCreateDebugUtilsMessengerEXT")?;
            instance.messenger = Some((loader, handle));
        }
        Ok(Arc::new(instance))
    }

    pub fn is_validating(&self) -> bool {
        self.messenger.is_some()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: devices and surfaces hold an `Arc` of this instance, so none is left.
        unsafe {
            if let Some((loader, handle)) = self.messenger.take() {
                loader.destroy_debug_utils_messenger(handle, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

fn load_entry() -> Result<ash::Entry> {
    // SAFETY: the library is trusted to be a Vulkan loader, and the entry outlives everything made from it.
    unsafe { ash::Entry::load() }.map_err(|error| Error::Loader(error.to_string()))
}

fn layer_switch<'a>(name: &'a CStr, on: &'a [vk::Bool32; 1]) -> vk::LayerSettingEXT<'a> {
    let mut setting = vk::LayerSettingEXT::default()
        .layer_name(VALIDATION_LAYER)
        .setting_name(name)
        .ty(vk::LayerSettingTypeEXT::BOOL32)
        .values(bytemuck::bytes_of(on));
    // ash counts bytes, Vulkan counts values.
    setting.value_count = 1;
    setting
}

fn extensions_of(entry: &ash::Entry, layer: Option<&CStr>) -> Result<Vec<vk::ExtensionProperties>> {
    // SAFETY: the entry is loaded.
    unsafe { entry.enumerate_instance_extension_properties(layer) }.context("vkEnumerateInstanceExtensionProperties")
}

pub(super) fn has_extension(extensions: &[vk::ExtensionProperties], name: &CStr) -> bool {
    extensions.iter().any(|extension| extension.extension_name_as_c_str() == Ok(name))
}

/// Returns the settings of a layer of this version that request synchronization validation, through `VK_EXT_layer_settings`.
/// `None` requests it through `VK_EXT_validation_features`, and [`SUBMIT_VARIABLE`]. There are only settings that the layer
/// knows, because the layer warns of unknown and deprecated ones, and `--validation` fails on warnings.
///
/// `syncval_shader_accesses_heuristic` stays off. It assumes that a shader writes to the whole of a storage buffer, so it reports
/// a hazard between two dispatches that write different vertices of one page.
fn layer_settings(has_layer_settings: bool, version: u32) -> Option<&'static [&'static CStr]> {
    const SUBMIT_SETTING: u32 = vk::make_api_version(0, 1, 3, 290);
    const FULL_SETTING: u32 = vk::make_api_version(0, 1, 4, 363);
    match version {
        _ if !has_layer_settings => None,
        // Hazards between submissions are on by default.
        ..SUBMIT_SETTING => Some(&[c"validate_sync"]),
        SUBMIT_SETTING..FULL_SETTING => Some(&[c"validate_sync", c"syncval_submit_time_validation"]),
        FULL_SETTING.. => Some(&[c"validate_sync", c"syncval_full_validation"]),
    }
}

fn layer_settings_of_installed(entry: &ash::Entry) -> Result<Option<&'static [&'static CStr]>> {
    // SAFETY: the entry is loaded.
    let layers =
        unsafe { entry.enumerate_instance_layer_properties() }.context("vkEnumerateInstanceLayerProperties")?;
    let is_wanted = |layer: &&vk::LayerProperties| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER);
    let layer = layers.iter().find(is_wanted).ok_or(Error::MissingValidationLayer)?;
    let has_layer_settings = has_extension(&extensions_of(entry, Some(VALIDATION_LAYER))?, ext::layer_settings::NAME);
    Ok(layer_settings(has_layer_settings, layer.spec_version))
}

fn messenger_info(messages: &Arc<ValidationMessages>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    use vk::DebugUtilsMessageSeverityFlagsEXT as Severity;
    use vk::DebugUtilsMessageTypeFlagsEXT as Type;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(Severity::WARNING | Severity::ERROR)
        .message_type(Type::VALIDATION | Type::PERFORMANCE)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(messages).cast_mut().cast())
}

/// Stores a message. It does not unwind into the driver, because nothing in it can panic.
unsafe extern "system" fn on_message(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT,
    user_data: *mut c_void,
) -> vk::Bool32 {
    if !data.is_null() && !user_data.is_null() {
        // SAFETY: both pointers are valid during the callback. `user_data` is the `ValidationMessages` that the instance
        // keeps alive longer than the messenger.
        let (data, messages) = unsafe { (&*data, &*user_data.cast::<ValidationMessages>()) };
        // SAFETY: as above. Each string is null or ends with a zero.
        let [id, text] = unsafe { [data.message_id_name_as_c_str(), data.message_as_c_str()] }
            .map(|text| text.map_or(Cow::Borrowed(""), CStr::to_string_lossy));
        // Older layers repeat the id in the text.
        let text = if text.contains(&*id) { text.into_owned() } else { format!("{id}: {text}") };
        tracing::error!(target: "validation", "{text}");
        messages.0.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
    vk::FALSE
}

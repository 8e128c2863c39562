use throng::app::advice::{DRIVER, LAYERS, WINDOW, installation_on};

#[test]
fn the_system_says_what_installs_a_driver() {
    for (os_release, command) in [
        ("NAME=\"Debian GNU/Linux\"\nID=debian\n", ": sudo apt install libvulkan1 mesa-vulkan-drivers"),
        ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", ": sudo apt install libvulkan1 mesa-vulkan-drivers"),
        ("ID=\"rocky\"\nID_LIKE='rhel centos fedora'\n", ": sudo dnf install vulkan-loader mesa-vulkan-drivers"),
        ("ID=manjaro\nID_LIKE=arch\n", ": sudo pacman -S vulkan-icd-loader vulkan-swrast"),
        ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", ": sudo zypper install libvulkan1 libvulkan_lvp"),
        ("ID=plan9\nVERSION_ID=\"debian\"\n", ""),
    ] {
        assert_eq!(installation_on(os_release, DRIVER), format!("install a Vulkan driver{command}"), "{os_release}");
    }
    assert!([LAYERS, WINDOW].iter().all(|missing| installation_on("ID=arch", *missing).contains(": sudo pacman -S ")));
}

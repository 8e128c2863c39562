use throng::app::advice::{DRIVER, LAYERS, WINDOW, installation_on};

#[test]
fn the_system_says_what_installs_a_driver() {
    for (os_release, expected) in [
        (
            "NAME=\"Debian GNU/Linux\"\nID=debian\n",
            "install a Vulkan driver: sudo apt install libvulkan1 mesa-vulkan-drivers",
        ),
        (
            "ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
            "install a Vulkan driver: sudo apt install libvulkan1 mesa-vulkan-drivers",
        ),
        (
            "ID=\"rocky\"\nID_LIKE='rhel centos fedora'\n",
            "install a Vulkan driver: sudo dnf install vulkan-loader mesa-vulkan-drivers",
        ),
        ("ID=manjaro\nID_LIKE=arch\n", "install a Vulkan driver: sudo pacman -S vulkan-icd-loader vulkan-swrast"),
        (
            "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n",
            "install a Vulkan driver: sudo zypper install libvulkan1 libvulkan_lvp",
        ),
        ("", "install a Vulkan driver"),
        ("ID=plan9\nVERSION_ID=\"debian\"\n", "install a Vulkan driver"),
    ] {
        assert_eq!(installation_on(os_release, DRIVER), expected, "{os_release}");
    }
    let others = [LAYERS, WINDOW].map(|missing| installation_on("ID=arch", missing));
    assert!(others.iter().all(|other| other.contains(": sudo pacman -S ")), "{others:?}");
}

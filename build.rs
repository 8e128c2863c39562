fn main() {
    #[cfg(feature = "shaderc")]
    { let _ = shaderc::Compiler::new(); }
}

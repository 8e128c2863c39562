//! Posed meshes as files for other programs: modelling, printing, pictures.
//!
//! In: [`PosedMesh`]es, which are models as skinned by `skin.comp` or its twin, and [`PosedNode`]s that place them. Out: a file in
//! one of four formats, which the name's extension decides. The meshes have neither skins nor targets nor clips any more. A file
//! appears only when it is complete. Memory follows the skinned vertices, not the file.

mod glb;
mod scene;
mod solid;

use std::io::{BufWriter, Write};

use anyhow::{Context, Result, ensure};
use glam::Vec3;

use super::output::{cannot_write, new_draft};
use super::text::counted;
use crate::cli::{MeshFile, MeshFormat};
pub use scene::{PosedMesh, PosedNode, PosedScene};

impl PosedScene<'_> {
    /// Writes a file. Returns a sentence about it.
    pub fn write(&self, (path, format): &MeshFile) -> Result<String> {
        let failed = || cannot_write(path);
        let parts = self.nodes.iter().flat_map(|node| self.parts(node));
        let (vertices, triangles) = parts.fold((0, 0), |(vertices, triangles), part| {
            (vertices + part.vertices.len(), triangles + part.triangles().len())
        });
        ensure!(vertices > 0, "{}: nothing is shown", failed());
        let mut positions =
            self.meshes.iter().flat_map(|mesh| &mesh.vertices).map(|vertex| Vec3::from(vertex.position));
        ensure!(positions.all(Vec3::is_finite), "{}: a position is too large for a number", failed());
        let (file, draft) = new_draft(path)?;
        let mut out = BufWriter::new(file);
        let written = match format {
            MeshFormat::Glb => glb::write(self, path, &mut out),
            MeshFormat::Obj => solid::write_obj(self, &mut out),
            MeshFormat::Ply => solid::write_ply(self, vertices, triangles, &mut out),
            MeshFormat::Stl => solid::write_stl(self, triangles, &mut out),
        };
        written.and_then(|()| Ok(out.flush()?)).with_context(failed)?;
        draft.persist(path).with_context(failed)?;
        let counts = [(self.nodes.len(), "node"), (vertices, "vertex"), (triangles, "triangle")];
        let [nodes, vertices, triangles] = counts.map(|(count, what)| counted(count, what));
        Ok(format!("{}: {nodes}, {vertices}, {triangles}", path.display()))
    }
}

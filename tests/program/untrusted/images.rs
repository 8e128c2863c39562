//! Images that are small in a file and large in memory.

/// Returns a PNG of zeros with four 16-bit channels.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Sixteen);
    // Fast compression would halve the ratio.
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&vec![0; 8 * width as usize * height as usize]).unwrap();
    file
}

/// Returns a progressive JPEG whose coefficients are all zero. The first scan has one bit for each block, and each of
/// `scan_count` further scans has a few bytes for the whole image.
pub fn progressive_jpeg(width: u16, height: u16, component_count: u8, scan_count: usize) -> Vec<u8> {
    fn segment(file: &mut Vec<u8>, marker: u8, content: &[u8]) {
        file.extend([0xff, marker]);
        file.extend((content.len() as u16 + 2).to_be_bytes());
        file.extend(content);
    }
    /// A Huffman table with one code of one bit: 0 represents `symbol`.
    fn huffman_table(file: &mut Vec<u8>, class_and_id: u8, symbol: u8) {
        segment(file, 0xc4, &[&[class_and_id, 1][..], &[0; 15], &[symbol]].concat());
    }
    let mut file = vec![0xff, 0xd8];
    segment(&mut file, 0xdb, &[&[0][..], &[1; 64]].concat());
    let mut frame = vec![8];
    frame.extend(height.to_be_bytes());
    frame.extend(width.to_be_bytes());
    frame.push(component_count);
    frame.extend((1..=component_count).flat_map(|component| [component, 0x11, 0]));
    segment(&mut file, 0xc2, &frame);
    // The symbols are a difference of 0 for the first coefficient, and "the rest of 2^14 or more blocks is zero" for others.
    huffman_table(&mut file, 0x00, 0);
    huffman_table(&mut file, 0x10, 0xe0);

    let block_count = usize::from(width).div_ceil(8) * usize::from(height).div_ceil(8);
    let mut first_scan = vec![component_count];
    first_scan.extend((1..=component_count).flat_map(|component| [component, 0]).chain([0, 0, 0]));
    segment(&mut file, 0xda, &first_scan);
    file.resize(file.len() + (block_count * usize::from(component_count)).div_ceil(8), 0);

    // The code is followed by 14 bits with the number of blocks beyond 2^14. None of their bytes is 0xff.
    let run = "010111011101110";
    let run_blocks = (1 << 14) + usize::from_str_radix(&run[1..], 2).unwrap();
    let mut bits = run.repeat(block_count / run_blocks);
    // The last run ends with the image.
    let rest = block_count % run_blocks;
    bits.push_str(&if rest >= 1 << 14 { format!("0{:014b}", rest - (1 << 14)) } else { String::new() });
    let bytes: Vec<u8> = bytes_of_bits(&bits).map(u8::reverse_bits).collect();
    for _ in 0..scan_count {
        segment(&mut file, 0xda, &[1, 1, 0, 1, 63, 0]);
        file.extend(&bytes);
    }
    file.extend([0xff, 0xd9]);
    file
}

/// Returns a lossless WebP of one colour. Codes with a single symbol take no bits, so it has 20 bytes at any size.
pub fn webp(width: u32, height: u32) -> Vec<u8> {
    // Numbers are written starting with their lowest bit.
    let lowest_first = |number: u32| format!("{:014b}", number - 1).chars().rev().collect::<String>();
    // An alpha bit and a three-bit version; no transform, no cache, no groups, and five codes of one symbol each.
    let stream = format!("{}{}0000000{}", lowest_first(width), lowest_first(height), "1000".repeat(5));
    let mut data = vec![0x2f];
    data.extend(bytes_of_bits(&stream));
    data.resize(data.len().next_multiple_of(2), 0);
    let size = data.len() as u32;
    [&b"RIFF"[..], &(size + 12).to_le_bytes(), b"WEBPVP8L", &size.to_le_bytes(), &data[..]].concat()
}

/// Returns the bytes of a text of zeros and ones. The lowest bit of each byte is the first one.
fn bytes_of_bits(bits: &str) -> impl Iterator<Item = u8> {
    let byte = |bits: &[u8]| bits.iter().rev().fold(0, |byte, bit| byte << 1 | (bit - b'0'));
    bits.as_bytes().chunks(8).map(byte)
}

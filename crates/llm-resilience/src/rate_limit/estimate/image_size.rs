//! The size of a picture in pixels, from the first bytes of its file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Width and height.
type Size = (u32, u32);

/// Base64 letters that are looked at: a JPEG's size may stand behind tens of kilobytes of camera data.
const LOOKED_AT: usize = 128 * 1024;
/// All others say it at once.
const HEAD: usize = 64;

/// The size of a PNG, JPEG, GIF or WebP; `None` where it cannot be seen.
pub(super) fn of_base64(data: &str) -> Option<Size> {
    let head = decode(data, HEAD)?;
    if head.starts_with(&[0xFF, 0xD8]) {
        of_jpeg(&decode(data, LOOKED_AT)?)
    } else {
        of_head(&head)
    }
}

/// The first so many letters, decoded; as many as there are in whole groups.
fn decode(data: &str, letters: usize) -> Option<Vec<u8>> {
    let whole = letters.min(data.len()) / 4 * 4;
    STANDARD.decode(data.as_bytes().get(..whole)?).ok()
}

fn of_head(bytes: &[u8]) -> Option<Size> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?));
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return match bytes.get(12..16)? {
            // Lossy: 14 bits each.
            b"VP8 " => Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF)),
            // Lossless: 14 bits each, less one, packed.
            b"VP8L" => {
                let packed = little(bytes, 21, 4)?;
                Some(((packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1))
            }
            // Extended: 24 bits each, less one.
            b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
            _ => None,
        };
    }
    None
}

/// Walks from segment to segment until the one that begins the frame.
fn of_jpeg(bytes: &[u8]) -> Option<Size> {
    let mut at = 2;
    loop {
        while *bytes.get(at)? == 0xFF && *bytes.get(at + 1)? == 0xFF {
            at += 1;
        }
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            // Frames of every coding; DHT, JPG and DAC stand between them.
            0xC0..=0xCF if !matches!(bytes[at + 1], 0xC4 | 0xC8 | 0xCC) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            // Marks without a length.
            0x01 | 0xD0..=0xD8 => at += 2,
            // The data begins, or all ends, and no frame was seen.
            0xD9 | 0xDA => return None,
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?,
        }
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + length)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: &[u8]) -> Option<Size> {
        of_base64(&STANDARD.encode(bytes))
    }

    #[test]
    fn every_form_says_its_size() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 4, 0, 0, 0, 3, 0, 8, 2, 0, 0, 0]);
        assert_eq!(size(&png), Some((1024, 768)));

        assert_eq!(size(b"GIF89a\x20\x03\x58\x02\0\0\0"), Some((800, 600)));

        let mut jpeg = vec![0xFF, 0xD8, 0xFF, 0xE1, 0x80, 0x02];
        jpeg.resize(4 + 0x8002, 7);
        jpeg.extend([
            0xFF, 0xFF, 0xC4, 0, 2, 0xFF, 0xC2, 0, 17, 8, 0x02, 0x58, 0x03, 0x20, 3, 0, 0, 0,
        ]);
        assert_eq!(size(&jpeg), Some((800, 600)), "behind 32 kB of camera data");

        let webp = |rest: &[u8]| {
            let mut bytes = b"RIFF\0\0\0\0WEBP".to_vec();
            bytes.extend(rest);
            bytes.resize(48, 0);
            size(&bytes)
        };
        assert_eq!(
            webp(b"VP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x20\x43\x58\x02"),
            Some((800, 600)),
            "two bits of each are a scale"
        );
        assert_eq!(webp(b"VP8L\0\0\0\0\x2f\x1f\xc3\x95\0"), Some((800, 600)));
        assert_eq!(
            webp(b"VP8X\0\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0"),
            Some((800, 600))
        );
        assert_eq!(webp(b"VP9 "), None);
    }

    #[test]
    fn what_is_cut_or_no_picture_has_none() {
        for bytes in [
            &b""[..],
            b"hello, world",
            b"\x89PNG\r\n\x1a\n",
            b"\xFF\xD8\xFF\xE0\0",
            b"\xFF\xD8\xFF\xDA\0\0\0",
            b"\xFF\xD8junk",
        ] {
            assert_eq!(size(bytes), None, "{bytes:?}");
        }
        assert_eq!(of_base64("no base64 at all!"), None);
    }
}

//! The photograph that proves a delivery.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::Timestamp;

/// For how long a photograph may be uploaded once somebody has asked to: long enough for a bad mobile connection.
pub const UPLOAD_LIFETIME: Duration = Duration::from_mins(10);

/// What kind of picture it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotoType {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

/// No kind of picture that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be image/jpeg, image/png or image/webp")]
pub struct UnknownPhotoType;

impl PhotoType {
    const ALL: [Self; 3] = [Self::Jpeg, Self::Png, Self::Webp];

    /// Its media type, as IANA has registered it.
    #[must_use]
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }
}

impl FromStr for PhotoType {
    type Err = UnknownPhotoType;

    fn from_str(media_type: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.media_type() == media_type).ok_or(UnknownPhotoType)
    }
}

impl fmt::Display for PhotoType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.media_type())
    }
}

/// The size of a picture in bytes: 1 to 5 MiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhotoSize(u32);

/// No size that we take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number of bytes from 1 to 5242880")]
pub struct InvalidPhotoSize;

impl PhotoSize {
    const MOST_BYTES: u32 = 5 * 1024 * 1024;

    /// In bytes.
    #[must_use]
    pub fn bytes(self) -> u32 {
        self.0
    }
}

impl TryFrom<u64> for PhotoSize {
    type Error = InvalidPhotoSize;

    fn try_from(bytes: u64) -> Result<Self, Self::Error> {
        match u32::try_from(bytes) {
            Ok(bytes @ 1..=Self::MOST_BYTES) => Ok(Self(bytes)),
            _ => Err(InvalidPhotoSize),
        }
    }
}

/// A photograph that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofOfDelivery {
    /// When it was uploaded.
    pub at: Timestamp,
    /// What kind of picture it is.
    pub photo_type: PhotoType,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photo_has_at_least_a_byte_and_at_most_five_mebibytes() {
        for bytes in [1, 5 * 1024 * 1024] {
            assert_eq!(PhotoSize::try_from(bytes).map(|size| u64::from(size.bytes())), Ok(bytes));
        }
        for bytes in [0, 5 * 1024 * 1024 + 1, u64::MAX] {
            assert_eq!(PhotoSize::try_from(bytes), Err(InvalidPhotoSize), "{bytes}");
        }
    }

    #[test]
    fn three_kinds_of_pictures_are_taken() {
        for kind in PhotoType::ALL {
            assert_eq!(kind.media_type().parse(), Ok(kind));
        }
        for kind in ["", "image/gif", "image/svg+xml", "IMAGE/JPEG", "image/jpeg; charset=utf-8"] {
            assert_eq!(kind.parse::<PhotoType>(), Err(UnknownPhotoType), "{kind}");
        }
    }
}
